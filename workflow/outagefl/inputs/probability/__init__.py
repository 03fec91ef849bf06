"""Probabilities of being online: one module a kind, with ``matrix(rounds, *, base, options)``, (rounds, clients).

``base``: float64 (clients,), the base probability p_i of each client; the configuration names its kind.
"""

FAMILY, FUNCTION = "probability", "matrix"
