"""Topologies: one module a kind, with ``edges(clients, rng, *, options)``."""

FAMILY, FUNCTION = "topology", "edges"
