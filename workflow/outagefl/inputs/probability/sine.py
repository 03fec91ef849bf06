"""Probabilities that swing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks


def matrix(rounds: int, *, base: NDArray[np.float64], gamma: float, period: float) -> NDArray[np.float64]:
    """p_i^t = p_i · (γ sin(2πt / period) + 1 - γ), (rounds, clients).

    FedSWE paper, appendix H.2, with t = 0, 1, … and ``period`` in rounds; ``base``: p, (clients,). ``gamma`` is at most
    0.5: beyond it, probabilities would be negative.
    """
    checks.number("availability.probability.gamma", gamma, 0, 0.5)
    checks.number("availability.probability.period", period, 2)
    swing = gamma * np.sin(2 * np.pi * np.arange(rounds) / period) + 1 - gamma
    return np.outer(swing.clip(0, 1), base)  # rounding may lead out of the range by 1e-16
