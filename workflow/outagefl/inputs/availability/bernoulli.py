"""Outages without memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks


def matrix(rounds: int, clients: int, rng: np.random.Generator, *, probability: float) -> NDArray[np.bool_]:
    """Each client is online in each round with ``probability``, independently, (rounds, clients)."""
    checks.number("availability.probability", probability, 0, 1)
    return rng.random((rounds, clients)) < probability
