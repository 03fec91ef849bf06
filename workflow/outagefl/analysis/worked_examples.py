"""Worked examples of the papers, computed with the rules that the runs use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from outagefl.analysis.estimates import Estimate
from outagefl.analysis.theory.aggregation import bound, class_weights, error, random_lags
from outagefl.analysis.theory.neighbourhood import receiver_weights
from outagefl.analysis.theory.result import Array
from outagefl.randomness import generator
from outagefl.rules.gossip import sfg

ROUNDING = 1e-9


def sfg_weights(lags: Sequence[float], gamma: float) -> Array:
    """The weights (n,) that client 0 gives to itself and its online neighbours of these lags (n,) under SFG."""
    return receiver_weights(partial(sfg.scores, gamma=gamma), lags)


def sfg_weight(*, lags: Sequence[float], gamma: float, candidate: int) -> Estimate:
    """The weight, in %, of one candidate; 0 is the receiver itself."""
    return Estimate(100 * float(sfg_weights(lags, gamma)[candidate]))


def sfg_lag(*, lags: Sequence[float], gamma: float) -> Estimate:
    """The receiver's effective lag after mixing: the candidates' lags, averaged with its weights."""
    return Estimate(float(sfg_weights(lags, gamma) @ np.asarray(lags, dtype=float)))


def class_above_bound(*, neighbours: int, draws: int) -> Estimate:
    """The share, in %, of random rules, at random lags, whose error is not below ``aggregation.bound``.

    The rules weigh the receiver at least as much as each neighbour; there is no dispersion, so that the bound is the
    part that grows with the outage alone.
    """
    rng = generator(0, "claim class_above_bound")
    weights, lags = class_weights(rng, draws, neighbours), random_lags(rng, draws, neighbours)
    above = error(weights, lags, 1, 0) >= bound(lags, 1, 0) * (1 - ROUNDING)
    return Estimate(
        100 * float(above.mean()), note=f"{above.sum()} of {draws} random rules with {neighbours} neighbours"
    )


KINDS = {function.__name__: function for function in (sfg_weight, sfg_lag, class_above_bound)}
