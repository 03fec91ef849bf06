"""Probabilities that fall and rise again by a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks

LOW = 0.4  # what is left of the base probability in the second half of a period


def matrix(rounds: int, *, base: NDArray[np.float64], period: float) -> NDArray[np.float64]:
    """p_i^t = p_i · f(t), (rounds, clients), where f is 1 in the first half of each period and 0.4 in the second.

    FedSWE paper, appendix H.2, with t = 0, 1, … and ``period`` in rounds; ``base``: p, (clients,).
    """
    checks.number("availability.probability.period", period, 2)
    return np.outer(factor(rounds, period), base)


def factor(rounds: int, period: float) -> NDArray[np.float64]:
    """f(t), (rounds,)."""
    return np.where(np.arange(rounds) % period < period / 2, 1, LOW)
