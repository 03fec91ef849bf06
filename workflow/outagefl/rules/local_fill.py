"""Aggregation of lossy messages: missing chunks are filled from the receiver's own model (DFL-AA paper, (3) and (6)).

A row of d finite numbers travels in K = ⌈d / chunk⌉ chunks of ``chunk`` numbers, the last of which may be shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def fill(own: Tensor, sent: Tensor, arrived: NDArray[np.bool_], chunk: int) -> Tensor:
    """ŵ_j = m ⊙ w_j + (1 − m) ⊙ w_i, (d,), (3); ``sent`` itself, not a copy, when all of it arrived.

    ``own``: w_i (d,). ``sent``: w_j (d,). ``arrived``: bool (K,); m repeats each flag over its chunk.
    """
    if arrived.all():
        return sent
    mask = torch.from_numpy(np.repeat(arrived, chunk)[: len(own)]).to(own.device)
    return torch.where(mask, sent, own)


def merge(
    own: Tensor,
    sent: Sequence[Tensor],
    arrived: NDArray[np.bool_],
    weights: NDArray[np.float64],
    chunk: int,
    out: Tensor | None = None,
) -> Tensor:
    """(1 − Σ_j a_j) w_i + Σ_j a_j ŵ_j, (d,), with ``weights`` a (k,); ``sent``: k rows; ``arrived``: (k, K).

    Sums up what each chunk takes of every model, so that no filled row is ever made; in a new row or, where given, in
    ``out``, another one than those that are merged. Messages whose missing chunks were filled when they came are handed
    over as filled, with all flags set. Raises ValueError for a rule that breaks its contract: weights that are
    negative, not finite, or sum to more than 1.
    """
    if not (weights >= 0).all() or not weights.sum() <= 1 + 1e-9:
        raise ValueError(f"weights of an inbox must be non-negative and sum to at most 1: {weights}")
    taken = weights[:, None] * arrived
    merged = torch.empty_like(own) if out is None else out
    for total, part, share in _by_chunk(merged, own, 1 - taken.sum(axis=0), chunk):
        torch.mul(part, share, out=total)
    for row, shares in zip(sent, taken, strict=True):
        if shares.any():
            for total, part, share in _by_chunk(merged, row, shares, chunk):
                total.addcmul_(part, share)
    return merged


def _by_chunk(
    total: Tensor, row: Tensor, shares: NDArray[np.float64], chunk: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Views of two rows (d,), the whole chunks as (n, chunk) and the rest, with their ``shares`` (K,) of ``row``."""
    share = torch.from_numpy(shares).to(row)
    whole = len(row) // chunk
    end = whole * chunk
    yield total[:end].view(whole, chunk), row[:end].view(whole, chunk), share[:whole, None]
    yield total[end:], row[end:], share[whole:]
