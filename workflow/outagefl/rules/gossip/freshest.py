"""The freshest candidates alone (our choice of a baseline): what SFG tends to as γ → 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView


def scores(view: GossipView) -> NDArray[np.float64]:
    """Score 1 for the candidates, the receiver included, of the smallest effective lag, 0 for others."""
    return view.within(0.0).astype(float)
