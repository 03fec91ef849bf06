"""Outages with memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks
from outagefl.inputs.chains import two_state

LONGEST = 1e9  # mean run in rounds; beyond, the share of the other state drowns in rounding errors


def matrix(
    rounds: int, clients: int, rng: np.random.Generator, *, mean_on: float, mean_off: float
) -> NDArray[np.bool_]:
    """Each client is a two-state Markov chain, in its stationary state from the first round on, (rounds, clients).

    Online and offline runs are geometric with means ``mean_on`` and ``mean_off`` rounds, both at least 1, so a client
    is online for mean_on / (mean_on + mean_off) of the time.
    """
    checks.number("availability.mean_on", mean_on, 1, LONGEST)
    checks.number("availability.mean_off", mean_off, 1, LONGEST)
    share = np.broadcast_to(mean_on / (mean_on + mean_off), (rounds, clients))
    return two_state(share, np.full(clients, 1 / mean_on), rng)
