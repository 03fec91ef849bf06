"""Worked examples of the papers, computed with the rules that the runs use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from outagefl.analysis.estimates import Estimate
from outagefl.rules.gossip import sfg
from outagefl.rules.gossip_view import GossipView, normalise


def sfg_weights(lags: Sequence[float], gamma: float) -> NDArray[np.float64]:
    """The weights (n,) that client 0 gives to itself and its online neighbours of these lags (n,) under SFG."""
    n = len(lags)
    everyone = np.ones((n, n), dtype=bool)
    lag, nothing_met = np.asarray(lags, dtype=float), np.full(n, np.inf)
    view = GossipView(everyone, lag, age=np.zeros(n), trains=np.ones(n, dtype=bool), mean_gap=nothing_met)
    weights: NDArray[np.float64] = normalise(sfg.scores(view, gamma=gamma), everyone)[0]
    return weights


def sfg_weight(*, lags: Sequence[float], gamma: float, candidate: int) -> Estimate:
    """The weight, in %, of one candidate; 0 is the receiver itself."""
    return Estimate(100 * float(sfg_weights(lags, gamma)[candidate]))


def sfg_lag(*, lags: Sequence[float], gamma: float) -> Estimate:
    """The receiver's effective lag after mixing: the candidates' lags, averaged with its weights."""
    return Estimate(float(sfg_weights(lags, gamma) @ np.asarray(lags, dtype=float)))


KINDS = {function.__name__: function for function in (sfg_weight, sfg_lag)}
