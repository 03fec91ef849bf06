"""Groups of clients that take turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks
from outagefl.inputs.groups import in_order
from outagefl.inputs.probability import staircase

WITHIN = ("stationary", "staircase")


def matrix(rounds: int, *, base: NDArray[np.float64], groups: int, window: int, within: str) -> NDArray[np.float64]:
    """Client i of group g has p_i^t = p_i · f(t) while t mod (groups · window) is in the g-th window, else 0.

    FedSWE paper, (31) and (32), shape (rounds, clients), with t = 0, 1, …, ``window`` in rounds and clients divided
    into ``groups`` in order; ``base``: p, (clients,). As printed the two groups would have windows of 51 and 49 rounds;
    here both have 50. ``within`` a window f is 1 (``stationary``), or 1 in its first half and 0.4 in its second
    (``staircase``; the length of the steps is our choice).
    """
    checks.whole(f"availability.probability.groups with {len(base)} clients", groups, 1, len(base))
    checks.whole("availability.probability.window", window, 1)
    checks.choice("availability.probability.within", within, WITHIN)
    turn = np.arange(rounds) // window % groups
    factor = staircase.factor(rounds, window) if within == "staircase" else np.ones(rounds)
    return np.where(turn[:, None] == in_order(len(base), groups), np.outer(factor, base), 0)
