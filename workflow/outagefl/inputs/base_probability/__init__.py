"""Base probabilities: one module a kind, with ``probabilities(clients, partition, seed, *, options)``, (clients,).

A kind with the option ``labels`` is given the partition and depends on it; others get None.
"""

FAMILY, FUNCTION = "base", "probabilities"
