"""SFG-Cut: SFG that drops candidates too far behind (the article only names it and a "cut margin": our choice)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView, discount


def scores(view: GossipView, *, gamma: float, margin: float) -> NDArray[np.float64]:
    """SFG's γ^{ℓ_j − min ℓ}, but 0 where ℓ_j − min ℓ exceeds ``margin`` (rounds, at least 0)."""
    return np.where(view.within(margin), discount(gamma, view.gap(view.lag)), 0.0)
