"""Topologies: one module a kind, with ``edges(clients, rng, *, options)``."""
