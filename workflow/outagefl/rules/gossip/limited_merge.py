"""Limited merging (after Danner, Hegedűs and Jelasity, ICCCI 2023): no averaging of models too far apart in staleness.

There, two models whose update counts differ by more than a limit are not merged, and the one with the higher count
stays. Here, with any number of candidates and staleness as effective lag (our choice), those within the limit of the
freshest are averaged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView


def scores(view: GossipView, *, limit: float) -> NDArray[np.float64]:
    """Score 1 for candidates, self included, where ℓ_j − min ℓ is at most ``limit`` (rounds, at least 0), else 0."""
    return view.within(limit).astype(float)
