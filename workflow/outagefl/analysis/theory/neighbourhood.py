"""A receiver and its neighbours as a gossip rule of the study sees them: who gets which weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outagefl import components
from outagefl.analysis.theory.aggregation import error
from outagefl.analysis.theory.result import Array
from outagefl.rules.gossip_view import GossipView, normalise

Rule = Callable[[GossipView], NDArray[np.float64]]


def gossip_rules(methods: Mapping[str, Mapping[str, Any]]) -> dict[str, Rule]:
    """The rules of these methods, ready to be used: name → scores of a view; ``methods``: name → rule and options."""
    loaded = {name: components.load("gossip rule", rule) for name, rule in methods.items()}
    return {name: partial(scores, **options) for name, (scores, options) in loaded.items()}


def receiver_weights(rule: Rule, lags: ArrayLike) -> Array:
    """The weights (n + 1,) that a receiver, candidate 0, gives itself and its n neighbours of these lags (n + 1,).

    All are online and connected to each other. An age is as long as the lag: each has missed its lag's rounds, in a
    row, and has mixed with nobody since; nor has anyone met others before.
    """
    stale, n = np.asarray(lags, dtype=float), np.size(lags)
    everyone = np.ones((n, n), dtype=bool)
    view = GossipView(everyone, lag=stale, age=stale, trains=everyone[0], mean_gap=np.full(n, np.inf))
    weights: Array = normalise(rule(view), everyone)[0]
    return weights


def with_receiver(away: ArrayLike, others: ArrayLike) -> Array:
    """The lags (outages, draws, n + 1) of a receiver away for these rounds (outages,) and of its neighbours.

    ``others``: (outages or 1, draws, n).
    """
    rounds, rest = np.asarray(away, dtype=float), np.asarray(others, dtype=float)
    receiver = np.broadcast_to(rounds[:, None, None], (len(rounds), rest.shape[1], 1))
    return np.concatenate([receiver, np.broadcast_to(rest, (len(rounds), *rest.shape[1:]))], axis=-1)


def errors(rule: Rule, lags: Array, drift: float, dispersion: float) -> Array:
    """A rule's expected errors (…), see ``aggregation``, at these lags (…, n + 1) of a receiver and its neighbours."""
    weights = np.array([receiver_weights(rule, row) for row in lags.reshape(-1, lags.shape[-1])])
    return error(weights.reshape(lags.shape), lags, drift, dispersion)
