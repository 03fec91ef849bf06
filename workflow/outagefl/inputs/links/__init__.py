"""Loss rates of links: one module a kind, with ``losses(links, rng, *, options)``, (links,)."""

FAMILY, FUNCTION = "links", "losses"
