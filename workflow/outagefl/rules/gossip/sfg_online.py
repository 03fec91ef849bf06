"""SFG-Cut with a margin that every client takes from what it has seen itself (our choice): nothing to tune.

The margin is the mean gap in effective lag, ℓ_j − min ℓ over C_i, of the candidates a client met in earlier rounds: it
drops whoever is further behind than its company usually is. Why this statistic:

- It is in rounds, takes two numbers of memory and no exchange, and has no parameter. A quantile would bring one.
- Gaps of 0 count. A client among fresh models loses little by being strict; one among stale ones would be left alone.
  The mean over positive gaps would jump when ties turn into differences of a hair, as averaging makes them.
- Only one gap of 0 a round is left out: C_i always has a freshest candidate, which tells nothing about the others, and
  would halve the mean of a client with one neighbour.
- The round's own gaps do not count, so a candidate does not widen the margin it is measured by.

Before a client has met anyone nothing is known and nothing dropped: it weighs as SFG does. If all it ever met were as
fresh as the freshest, the margin is 0 and the first stale one is dropped; its gap counts from then on. The freshest
candidate always stays, and so do those as fresh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView, discount


def scores(view: GossipView, *, gamma: float) -> NDArray[np.float64]:
    """SFG's γ^{ℓ_j − min ℓ}, but 0 where ℓ_j − min ℓ exceeds the receiver's mean gap so far."""
    return np.where(view.within(view.mean_gap), discount(gamma, view.gap(view.lag)), 0.0)
