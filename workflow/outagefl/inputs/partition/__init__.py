"""Partitions: one module a kind, with ``split(data, clients, rng, *, options)``."""

FAMILY, FUNCTION = "partition", "split"
