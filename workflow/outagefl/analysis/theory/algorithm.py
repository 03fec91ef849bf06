"""FedSWE's Algorithm 1 on quadratic losses, and its factor of echoing (FedSWE paper, Section 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.analysis.theory.result import Array


def durations(available: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How long each client has been away in round t = 0, 1, …: t − τ_i(t), (rounds, clients) as ``available``.

    τ_i(t) is the last round before t in which client i was available, −1 if none.
    """
    t = np.arange(len(available))[:, None]
    last = np.maximum.accumulate(np.where(available, t, -1), axis=0)
    before: NDArray[np.int64] = np.vstack([np.full_like(last[:1], -1), last[:-1]])
    return t - before


def fedswe(available: NDArray[np.bool_], optima: Array, k: float, progress: Array) -> tuple[Array, Array]:
    """Global models (rounds, …) and local models (rounds, …, m) after each round, from x = 0, with η_g = 1.

    Client i's loss is (x − u_i)² / 2, and its gradients are exact. ``available`` (rounds, m); ``optima``: u (…, m), any
    number of problems at once; ``progress`` (rounds,): the share of its way to u_i that a client goes in a round,
    1 − (1 − η_l)^s. A round with nobody available changes nothing.
    """
    x, local = np.zeros(optima.shape[:-1]), np.zeros(optima.shape)
    outputs, locals_ = [], []
    for active, away, share in zip(available, durations(available), progress, strict=True):
        if active.any():
            sent = local - away * share * (local - optima)
            x = (sent[..., active].sum(-1) + k * x) / (active.sum() + k)
            local = np.where(active, x[..., None], local)
        outputs.append(x)
        locals_.append(local)
    return np.array(outputs), np.array(locals_)
