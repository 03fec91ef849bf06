"""Two-state Markov chains, online and offline, whose probability of being online is prescribed for every round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def two_state(share: Floats, stop: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """One chain a client: client i is online in round t with probability ``share[t, i]``, (rounds, clients).

    An online client goes offline with probability ``stop[i]``, or more where its share falls faster than that; an
    offline client comes online with the probability that makes up the share. So no chain has to warm up, and under a
    constant share online runs are geometric with mean 1 / stop. Shares lie strictly between 0 and 1; one that rises
    faster than all offline clients coming online allows is reached late.
    """
    online = np.empty(share.shape, dtype=bool)
    online[0] = rng.random(share.shape[1]) < share[0]
    for now in range(1, len(share)):
        before, after = share[now - 1], share[now]
        staying = np.minimum(before * (1 - stop), after)
        probability = np.where(online[now - 1], staying / before, (after - staying) / (1 - before))
        online[now] = rng.random(len(before)) < probability
    return online
