"""What a gossip rule sees of a round, and how its scores become mixing weights.

Rows are receivers, columns are candidates. All quantities are those *before* the round's mixing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import ConfigError, unknown

AGE_READINGS = ("before_training", "after_training")
ROUNDING = 1e-9  # rounds: lags are weighted means of lags, and those this close are equal but for rounding


@dataclass(frozen=True)
class GossipView:
    """One round as a rule sees it.

    candidates: bool (N, N), symmetric; row i marks C_i, client i itself and its online neighbours, or i alone if i is
        offline or does not mix in this round.
    lag: float64 (N,), effective lag in rounds, at least 0.
    age: float64 (N,), rounds without training since the client last trained, before this round's training.
    trains: bool (N,), who trains in this round.
    mean_gap: float64 (N,), the mean gap in lag, in rounds, of the candidates each client met in earlier rounds, one of
        the freshest in each of these rounds left out; infinite before the first that it did not spend alone.
    """

    candidates: NDArray[np.bool_]
    lag: NDArray[np.float64]
    age: NDArray[np.float64]
    trains: NDArray[np.bool_]
    mean_gap: NDArray[np.float64]

    def gap(self, staleness: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each candidate is behind the freshest one of C_i, as (N, N); infinite for non-candidates.

        ``staleness`` is (N,). The freshest candidate of every row has gap 0.
        """
        among = np.where(self.candidates, staleness, np.inf)
        freshest: NDArray[np.float64] = among.min(axis=1, keepdims=True)
        return among - freshest

    def within(self, margin: float | NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which candidates' effective lag exceeds that of the freshest one of C_i by no more than ``margin``, (N, N).

        ``margin``: rounds, at least 0, for all receivers or for each of them, (N,). The freshest candidate is always
        within, and so is any that only rounding keeps from it.
        """
        limit = np.reshape(margin, (-1, 1)) + ROUNDING
        return self.candidates & (self.gap(self.lag) <= limit)


def discount(gamma: float, staleness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores γ^staleness; ConfigError unless 0 < γ ≤ 1."""
    if not 0 < gamma <= 1:
        raise ConfigError(f"gamma: {gamma!r} is not a discount above 0 and at most 1")
    return np.power(gamma, staleness)


def read_age(view: GossipView, reading: str) -> NDArray[np.float64]:
    """The clients' ages (N,) when models are exchanged, under one of two readings of the article.

    ``before_training`` (our choice): the rounds missed before this round's training. ``after_training`` (the literal
    reading): training has just reset the age, so whoever trains in this round has age 0.
    """
    if reading not in AGE_READINGS:
        raise ConfigError(f"age_reading: {unknown('reading', reading, AGE_READINGS)}")
    return view.age if reading == "before_training" else np.where(view.trains, 0.0, view.age)


def normalise(scores: NDArray[np.float64], candidates: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mixing weights (N, N): the scores of the candidates, each row divided by its sum.

    Every rule gives the receiver itself or its freshest candidate a positive score, so no row can vanish however stale
    the others are. Raises ValueError for a rule that breaks this: a negative score, or a row without a positive finite
    sum.
    """
    kept = np.where(candidates, scores, 0.0)
    totals: NDArray[np.float64] = kept.sum(axis=1)
    broken = (kept < 0).any(axis=1) | ~np.isfinite(totals) | (totals <= 0)
    if broken.any():
        receiver = int(broken.argmax())
        raise ValueError(
            f"scores of receiver {receiver} must be non-negative with a positive finite sum: {kept[receiver]}"
        )
    return kept / totals[:, None]
