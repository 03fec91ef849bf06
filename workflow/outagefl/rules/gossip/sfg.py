"""Self-inclusive Freshness-weighted Gossip (SFG article): every candidate, the receiver included, pays for its lag."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView, discount


def scores(view: GossipView, *, gamma: float) -> NDArray[np.float64]:
    """Candidate j gets γ^{ℓ_j − min ℓ}, the minimum over the receiver's candidates; lags 2, 0, 0 give 1/9, 4/9, 4/9."""
    return discount(gamma, view.gap(view.lag))
