"""Outages that follow the time of day."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks


def matrix(
    rounds: int,
    clients: int,
    rng: np.random.Generator,
    *,
    period: float,
    low: float,
    high: float,
    phase_spread: float,
) -> NDArray[np.bool_]:
    """Each client is online by an independent draw whose probability swings over a period, (rounds, clients).

    The swing is a cosine (our choice): p_i(t) = low + (high - low) · (1 + cos 2π(t / period + φ_i)) / 2 for
    t = 0, 1, …, with ``period`` in rounds and φ_i uniform on [0, phase_spread): 0 puts all clients in one time zone,
    1 spreads them around the globe.
    """
    checks.number("availability.period", period, 2)
    checks.number("availability.low", low, 0, 1)
    checks.number("availability.high", high, 0, 1)
    checks.number("availability.phase_spread", phase_spread, 0, 1)
    if low > high:
        raise InputError(f"availability.low: {low} is above availability.high, {high}")
    phase = phase_spread * rng.random(clients)
    swing = (1 + np.cos(2 * np.pi * (np.arange(rounds)[:, None] / period + phase))) / 2
    return rng.random((rounds, clients)) < low + (high - low) * swing
