"""Probabilities that swing and vanish where they are small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks
from outagefl.inputs.probability import sine


def matrix(
    rounds: int, *, base: NDArray[np.float64], gamma: float, period: float, threshold: float
) -> NDArray[np.float64]:
    """The probabilities of ``sine``, and 0 where they would be below ``threshold``, (rounds, clients).

    The fourth dynamics of the FedSWE paper's released code, which its text counts but does not define.
    """
    checks.number("availability.probability.threshold", threshold, 0, 1)
    swinging = sine.matrix(rounds, base=base, gamma=gamma, period=period)
    return np.where(swinging < threshold, 0, swinging)
