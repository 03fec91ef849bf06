"""Metropolis–Hastings weights on the online subgraph (our choice of a baseline): symmetric and doubly stochastic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.rules.gossip_view import GossipView


def scores(view: GossipView) -> NDArray[np.float64]:
    """Neighbour j of i gets 1 / (1 + max(d_i, d_j)), d = the number of online neighbours; i itself gets the rest."""
    neighbours = view.candidates & ~np.eye(len(view.lag), dtype=bool)
    degree = neighbours.sum(axis=1)
    weights: NDArray[np.float64] = neighbours / (1.0 + np.maximum.outer(degree, degree))
    np.fill_diagonal(weights, 1.0 - weights.sum(axis=1))
    return weights
