"""The product W X of mixing weights and models, a few columns at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

COLUMNS = {"cpu": 1 << 11, "cuda": 1 << 16}  # numbers of each model at a time: on a CPU they stay in its cache
DENSE_FROM = 1 / 4  # share of weights that are not 0 from which the product of full matrices is faster on a CPU


def mix(models: Tensor, weights: NDArray[np.float64], mixes: NDArray[np.bool_]) -> None:
    """x_i ← Σ_j w_ij x_j for all receivers who mix, bool (N,), at once and in place; no other row is read or changed.

    ``models``: float32 (N, d); ``weights``: (N, N). Costs O(E · d) for E weights that are not 0.
    """
    receivers = torch.from_numpy(np.flatnonzero(mixes)).to(models.device)
    among = weights[np.ix_(mixes, mixes)]
    dense = np.count_nonzero(among) >= DENSE_FROM * among.size
    product = (_dense if dense else _sparse)(torch.from_numpy(among).to(models), receivers)
    for columns in models.split(COLUMNS[models.device.type], dim=1):
        if len(receivers) == len(models):
            columns.copy_(product(columns))  # the same, and twice as fast
        else:
            columns.index_copy_(0, receivers, product(columns))


def _dense(weights: Tensor, receivers: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda columns: weights @ columns[receivers]


def _sparse(weights: Tensor, receivers: Tensor) -> Callable[[Tensor], Tensor]:
    """A sum over the bag of each receiver's sources, which reads every one of them once."""
    rows, sources = weights.nonzero(as_tuple=True)
    bags = torch.searchsorted(rows, torch.arange(len(receivers), device=rows.device))
    where, values = receivers[sources], weights[rows, sources]
    return lambda columns: embedding_bag(where, columns, bags, mode="sum", per_sample_weights=values)
