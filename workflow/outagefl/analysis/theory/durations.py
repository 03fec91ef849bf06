"""How long clients have been away: t − τ_i(t), the factor of FedSWE's adaptive innovation echoing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def durations(available: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How long each client has been away in round t = 0, 1, …: t − τ_i(t), (rounds, clients) as ``available``.

    τ_i(t) is the last round before t in which client i was available, −1 if none (FedSWE paper, Algorithm 1).
    """
    t = np.arange(len(available))[:, None]
    last = np.maximum.accumulate(np.where(available, t, -1), axis=0)
    before: NDArray[np.int64] = np.vstack([np.full_like(last[:1], -1), last[:-1]])
    return t - before
