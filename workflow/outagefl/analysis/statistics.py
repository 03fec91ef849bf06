"""What a set of paired differences says: intervals, tests, effect size, equivalence.

Differences are score − baseline in the score's unit (percentage points for accuracies), one per pair. They are rounded
to 9 decimals first, so that two equal accuracies give an exact zero whatever order they were summed in.

Too little data is not evidence: what cannot be computed (an interval of one pair, a t-test without spread) is NaN,
which ``holm`` passes over and no verdict counts as significant. Differences that are all zero have p = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.regression.linear_model import OLS  # statsmodels.api imports far more
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

from outagefl.randomness import generator

LEVEL = 0.95
RESAMPLES = 9_999


@dataclass(frozen=True)
class Comparison:
    """One method against the baseline over the seeds of one setting (or over all settings: ``clustered``).

    ``n`` pairs, mean ``difference`` with its 95 % interval ``low`` … ``high``, p-values of the two-sided tests of no
    difference, ``effect`` (Cohen's d_z = mean / standard deviation), ``wins`` and ``losses`` (ties are neither) and
    ``p_equivalence`` (small: the mean difference lies within ± the margin).
    """

    n: int
    difference: float
    low: float
    high: float
    p_t: float
    p_wilcoxon: float
    p_sign: float
    effect: float
    wins: int
    losses: int
    p_equivalence: float


def compare(differences: ArrayLike, margin: float) -> Comparison:
    """Compare over independent pairs, differences (n,), n ≥ 1.

    Interval: BCa bootstrap of the mean (Efron 1987). Tests: paired t, Wilcoxon signed-rank (zeros dropped; exact up to
    50 pairs without ties and up to 13 with, else the normal approximation), exact sign test (zeros dropped).
    Equivalence: two one-sided t-tests (Schuirmann 1987) against ± ``margin``, in the unit of the differences; two or
    more equal ones, such as those of methods that do the same, leave no doubt (the limit of the tests).
    """
    d = np.round(np.asarray(differences, dtype=float), 9)
    spread = bool(len(d) > 1 and np.ptp(d) > 0)
    low, high = bootstrap_interval(d)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    p_t = float(stats.ttest_1samp(d, 0).pvalue) if spread else np.nan
    return Comparison(
        n=len(d),
        difference=float(d.mean()),
        low=low,
        high=high,
        p_t=p_t if d.any() else 1.0,
        p_wilcoxon=float(stats.wilcoxon(d[d != 0]).pvalue) if d.any() else 1.0,
        p_sign=sign_test(wins, losses),
        effect=float(d.mean() / d.std(ddof=1)) if spread else np.nan,
        wins=wins,
        losses=losses,
        p_equivalence=float(DescrStatsW(d).ttost_mean(-margin, margin)[0]) if spread else _without_spread(d, margin),
    )


def clustered(differences: ArrayLike, seeds: ArrayLike, margin: float) -> Comparison:
    """Compare over all settings at once, differences and seeds (n,): pairs that share a seed are not independent.

    Interval, test and equivalence come from the regression of the differences on a constant with standard errors
    clustered by seed (Liang & Zeger 1986, small-sample corrected) and a t distribution with (seeds − 1) degrees of
    freedom; with every seed in every setting this is the t-test on the seeds' mean differences. The Wilcoxon and sign
    tests and d_z would need independent pairs: they are NaN.
    """
    d, seeds = np.round(np.asarray(differences, dtype=float), 9), np.asarray(seeds)
    mean, clusters = float(d.mean()), len(np.unique(seeds))
    low = high = p_t = p_equivalence = np.nan
    if clusters > 1:
        fit = OLS(d, np.ones(len(d))).fit(cov_type="cluster", cov_kwds={"groups": seeds}, use_t=True)
        error = float(fit.bse[0])
        if error > 1e-9:
            ((low, high),) = fit.conf_int(1 - LEVEL)
            p_t = float(fit.pvalues[0])
            nearest_bound = (margin - abs(mean)) / error
            p_equivalence = float(stats.t.sf(nearest_bound, clusters - 1))
        else:
            low = high = mean
            p_equivalence = _without_spread(d, margin)
    return Comparison(
        n=len(d),
        difference=mean,
        low=float(low),
        high=float(high),
        p_t=p_t if d.any() else 1.0,
        p_wilcoxon=np.nan,
        p_sign=np.nan,
        effect=np.nan,
        wins=int((d > 0).sum()),
        losses=int((d < 0).sum()),
        p_equivalence=p_equivalence,
    )


def _without_spread(values: np.ndarray, margin: float) -> float:
    """The p-value of equivalence of equal values (n,): certain, one way or the other, from two of them on."""
    return float(abs(values.mean()) >= margin) if len(values) > 1 else np.nan


def bootstrap_interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % BCa interval of the mean of values (n,): NaN for one value, the value itself where all are equal.

    9,999 resamples from a generator of its own, so the same values always give the same interval. With few values
    (under about ten) such an interval is too narrow: read it beside the t-test.
    """
    if len(values) < 2:
        return np.nan, np.nan
    if np.ptp(values) == 0:
        return float(values[0]), float(values[0])
    draws = generator(0, "bootstrap")
    interval = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, confidence_level=LEVEL, method="BCa", rng=draws
    ).confidence_interval
    return float(interval.low), float(interval.high)


def t_half_width(deviation: ArrayLike, n: ArrayLike, level: float = LEVEL) -> np.ndarray:
    """Half the t interval of means of ``n`` values with standard deviation ``deviation``; NaN where n < 2."""
    deviation, n = np.asarray(deviation, dtype=float), np.asarray(n, dtype=float)
    quantile = np.full(n.shape, np.nan)
    enough = n > 1
    quantile[enough] = stats.t.ppf((1 + level) / 2, n[enough] - 1)
    half: np.ndarray = quantile * deviation / np.sqrt(n)
    return half


def sign_test(wins: int, losses: int) -> float:
    """The two-sided p-value of the exact sign test; 1 without any win or loss."""
    return float(stats.binomtest(wins, wins + losses, 0.5).pvalue) if wins + losses else 1.0


def sides_of_seeds(differences: ArrayLike, seeds: ArrayLike) -> tuple[int, int]:
    """How many seeds win and lose, of differences and seeds (n,), since pairs of one seed are not independent.

    A seed stands on the side of most of its pairs; one with as many on either side counts as a tie.
    """
    d, seeds = np.round(np.asarray(differences, dtype=float), 9), np.asarray(seeds)
    sides = np.array([np.sign(d[seeds == seed]).sum() for seed in np.unique(seeds)])
    return int((sides > 0).sum()), int((sides < 0).sum())


def holm(p_values: ArrayLike) -> np.ndarray:
    """Holm's (1979) corrected p-values of a family (n,); NaN stays NaN and does not count as a test."""
    p = np.asarray(p_values, dtype=float)
    corrected, tested = p.copy(), ~np.isnan(p)
    if tested.any():
        corrected[tested] = multipletests(p[tested], method="holm")[1]
    return corrected
