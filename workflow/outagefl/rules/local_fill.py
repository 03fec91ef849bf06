"""Aggregation of lossy messages: missing chunks are filled from the receiver's own model (DFL-AA paper, (3) and (6)).

A row of d numbers travels in K = ⌈d / chunk⌉ chunks of ``chunk`` numbers, the last of which may be shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def fill(own: Tensor, sent: Tensor, arrived: NDArray[np.bool_], chunk: int) -> Tensor:
    """ŵ_j = m ⊙ w_j + (1 − m) ⊙ w_i, (d,), (3); ``sent`` itself, not a copy, when all of it arrived.

    ``own``: w_i (d,). ``sent``: w_j (d,). ``arrived``: bool (K,); m repeats each flag over its chunk. What did not
    arrive has no influence, whatever it holds.
    """
    if arrived.all():
        return sent
    mask = torch.from_numpy(arrived).to(own.device).repeat_interleave(chunk)[: len(own)]
    return torch.where(mask, sent, own)


def merge(
    own: Tensor, sent: Sequence[Tensor], arrived: NDArray[np.bool_], weights: NDArray[np.float64], chunk: int
) -> Tensor:
    """(1 − Σ_j a_j) w_i + Σ_j a_j ŵ_j, a new row (d,), with ``weights`` a (k,); ``sent``: k rows; ``arrived``: (k, K).

    One filled row exists at a time, and none of an entry without weight. Messages whose missing chunks were filled when
    they came are handed over as filled, with all flags set. Raises ValueError for a rule that breaks its contract:
    weights that are negative, not finite, or sum to more than 1.
    """
    rest = 1 - float(weights.sum())
    if not (weights >= 0).all() or not rest >= -1e-9:
        raise ValueError(f"weights of an inbox must be non-negative and sum to at most 1: {weights}")
    merged = torch.mul(own, max(rest, 0.0))
    for weight, row, flags in zip(weights, sent, arrived, strict=True):
        if weight:
            merged.add_(fill(own, row, flags, chunk), alpha=float(weight))
    return merged
