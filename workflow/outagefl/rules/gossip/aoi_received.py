"""Age of information on what is received: stale neighbours are discounted, the receiver's own model never is.

The rule the SFG article argues against: it protects a stale model merely because it is local.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView, discount, read_age


def scores(view: GossipView, *, gamma: float, age_reading: str) -> NDArray[np.float64]:
    """Neighbour j gets γ^{a_j}, the receiver itself 1. ``age_reading``: see ``read_age``."""
    weights = np.tile(discount(gamma, read_age(view, age_reading)), (len(view.age), 1))
    np.fill_diagonal(weights, 1.0)
    return weights
