"""The error of an aggregate of stale models (SFG article, theory) and how low it can be; the formalisation is ours.

The collaborative state z is a random walk: in a round each of its coordinates moves by a step of mean 0 and variance
``drift`` (δ²). Candidate j of lag ℓ_j holds z as it was ℓ_j rounds ago plus a dispersion of its own: independent, of
mean 0 and variance ``dispersion`` (σ²) per coordinate. Candidate 0 is the receiver, n the number of its neighbours. A
rule of *the class* has weights that are non-negative, sum to 1 and are largest for the receiver: w_0 ≥ w_j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.analysis.theory.result import Array


def error(weights: Array, lags: Array, drift: float, dispersion: float) -> Array:
    """E(Σ_j w_j x_j − z)² per coordinate, (…), for weights that sum to 1 and lags, both (…, n + 1).

    It is δ² Σ_jk w_j w_k min(ℓ_j, ℓ_k) + σ² Σ_j w_j²: as Σ w_j = 1, the aggregate is off by Σ w_j (z(t − ℓ_j) − z(t))
    and by the dispersions; two lags share the steps of the last min(ℓ_j, ℓ_k) rounds, and steps are independent.
    """
    common = np.minimum(lags[..., :, None], lags[..., None, :])
    staleness: Array = np.einsum("...j,...jk,...k->...", weights, common, weights)
    expected: Array = drift * staleness + dispersion * (weights**2).sum(-1)
    return expected


def floor(lags: Array, drift: float, dispersion: float) -> Array:
    """δ² m + σ² / (n + 1), m the smallest lag (…, n + 1): no weights that sum to 1 have less error, whatever the rule.

    Proof: Σ_jk w_j w_k min(ℓ_j, ℓ_k) = ∫ W(s)² ds, W(s) = the weight of all candidates with ℓ_j > s, and W(s) = 1 for
    s < m. And Σ w_j² ≥ 1 / (n + 1) by Cauchy–Schwarz.
    """
    least: Array = drift * lags.min(-1) + dispersion / lags.shape[-1]
    return least


def bound(lags: Array, drift: float, dispersion: float) -> Array:
    """δ² (m + (ℓ_0 − m) / (n + 1)²) + σ² / (n + 1), m the smallest lag (…, n + 1): no rule of the class has less error.

    Proof, with W as in ``floor``: 1 = Σ w_j ≤ (n + 1) w_0, so for m ≤ s < ℓ_0, where the receiver is among the
    candidates with ℓ_j > s, W(s) ≥ w_0 ≥ 1 / (n + 1) (no other weight is negative). It is the error of uniform weights
    when every neighbour has lag m. With m fixed it grows without limit in ℓ_0, in proportion to δ² (ℓ_0 − m).
    """
    kept: Array = drift * (lags[..., 0] - lags.min(-1)) / lags.shape[-1] ** 2
    return floor(lags, drift, dispersion) + kept


def overtaken(neighbours: int, drift: float, dispersion: float) -> float:
    """(n + 1) σ² / (n δ²): after so many rounds, with fresh neighbours, discounting the receiver beats uniform weights.

    The error w_0² δ² ℓ_0 + σ² (w_0² + (1 − w_0)² / n) is strictly convex in w_0, and from this outage on no larger at
    w_0 = 0 than at 1 / (n + 1); so it is smaller in between.
    """
    return (neighbours + 1) * dispersion / (neighbours * drift)


def simulate(
    rng: np.random.Generator,
    weights: Array,
    lags: NDArray[np.int64],
    drift: float,
    dispersion: float,
    repetitions: int,
) -> Array:
    """Squared errors of one coordinate, (m, repetitions), of aggregates with weights (m, n + 1) and lags (n + 1,)."""
    steps = rng.normal(0, np.sqrt(drift), (repetitions, lags.max()))  # the latest first
    missing = np.hstack([np.zeros((repetitions, 1)), steps.cumsum(axis=1)])[:, lags]
    candidates = rng.normal(0, np.sqrt(dispersion), missing.shape) - missing
    squared: Array = (weights @ candidates.T) ** 2
    return squared


def class_weights(rng: np.random.Generator, draws: int, neighbours: int) -> Array:
    """Weights of random rules of the class, (draws, neighbours + 1), from nearly uniform to nearly one candidate's."""
    parts = rng.gamma(10 ** rng.uniform(-1, 3, (draws, 1)), size=(draws, neighbours + 1))
    first = parts.argmax(axis=1)[:, None]
    largest = np.take_along_axis(parts, first, axis=1)
    np.put_along_axis(parts, first, parts[:, :1], axis=1)
    parts[:, :1] = largest
    weights: Array = parts / parts.sum(axis=1, keepdims=True)
    return weights


def random_lags(rng: np.random.Generator, draws: int, neighbours: int) -> Array:
    """Lags (draws, neighbours + 1) from hundredths of a round to thousands; about half of the neighbours are fresh."""
    lags = 10 ** rng.uniform(-2, 4, (draws, neighbours + 1))
    lags[:, 1:] *= rng.random((draws, neighbours)) < 0.5
    return lags
