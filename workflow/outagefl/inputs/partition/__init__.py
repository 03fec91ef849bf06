"""Partitions: one module a kind, with ``split(y_train, y_test, clients, rng, *, options)``."""

FAMILY, FUNCTION = "partition", "split"
