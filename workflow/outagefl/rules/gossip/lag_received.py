"""Effective lag on what is received only (our choice of a baseline): SFG without discounting the receiver itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView, discount


def scores(view: GossipView, *, gamma: float) -> NDArray[np.float64]:
    """Neighbour j gets γ^{ℓ_j − min ℓ}, the minimum over the receiver's candidates; the receiver itself gets 1."""
    weights = discount(gamma, view.gap(view.lag))
    np.fill_diagonal(weights, 1.0)
    return weights
