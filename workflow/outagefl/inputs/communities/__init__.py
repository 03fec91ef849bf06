"""Communities of a graph: one module a kind, with ``membership(graph, rng, *, options)``, (clients,)."""

FAMILY, FUNCTION = "communities", "membership"
