"""Availability models: one module a kind, with ``matrix(rounds, clients, rng, *, options)``."""

FAMILY, FUNCTION = "availability", "matrix"
