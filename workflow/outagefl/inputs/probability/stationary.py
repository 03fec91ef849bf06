"""Probabilities that never change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def matrix(rounds: int, *, base: NDArray[np.float64]) -> NDArray[np.float64]:
    """p_i^t = p_i, (rounds, clients); ``base``: p, (clients,)."""
    return np.tile(base, (rounds, 1))
