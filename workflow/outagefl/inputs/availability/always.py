"""No outages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def matrix(rounds: int, clients: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Every client is online in every round, (rounds, clients)."""
    return np.ones((rounds, clients), dtype=bool)
