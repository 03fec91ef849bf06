"""Speeds of clients: one module a kind, with ``seconds(clients, rng, *, options)``, (clients,)."""

FAMILY, FUNCTION = "speeds", "seconds"
