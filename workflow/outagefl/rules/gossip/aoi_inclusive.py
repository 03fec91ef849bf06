"""Age of information with the receiver itself included (our choice of a baseline): SFG by age instead of lag."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView, discount, read_age


def scores(view: GossipView, *, gamma: float, age_reading: str) -> NDArray[np.float64]:
    """Candidate j gets γ^{a_j − min a}, min over the receiver's candidates. ``age_reading``: see ``read_age``."""
    return discount(gamma, view.gap(read_age(view, age_reading)))
