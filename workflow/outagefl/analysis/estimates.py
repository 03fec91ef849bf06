"""What our runs say of a claim: an estimate with its interval, and the evidence for the claim and against it.

A claim rests on one contrast or several (``statistic``), each a number per seed and setting. Settings of a seed are not
independent, so the seeds' means are what is tested, by t-tests: with every seed in every setting the same as standard
errors clustered by seed. One function per assertion, the claim's ``says``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from outagefl.analysis.contrast import Contrast
from outagefl.analysis.statistics import LEVEL, sides_of_seeds, sign_test, t_half_width
from outagefl.analysis.verdicts import ALPHA

Seeds = NDArray[np.float64]  # (seeds,): what a contrast is for each seed
Evidence = Callable[[Seeds], tuple[float, float]]  # the p-values for the claim and against it


@dataclass(frozen=True)
class Estimate:
    """Our value with its 95 % interval and the number of seeds; ``p``: for the claim, ``p_against``: against it.

    The p-values are not corrected yet. What there is too little data for is NaN.
    """

    ours: float
    low: float = np.nan
    high: float = np.nan
    n: int = 0
    p: float = np.nan
    p_against: float = np.nan
    note: str = ""


def above(values: Seeds, bound: float) -> float:
    """The p-value of the one-sided t-test for a mean above ``bound``.

    Two or more seeds that all have exactly zero leave no doubt, as methods that do the same. Other values without any
    spread, and a single one, say nothing of how they would spread: NaN.
    """
    if len(values) < 2:
        return np.nan
    if np.ptp(values) == 0:
        return float(bound >= 0) if values[0] == 0 else np.nan
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(special.stdtr(len(values) - 1, (bound - values.mean()) / error))


def below(values: Seeds, bound: float) -> float:
    """The p-value of the one-sided t-test for a mean below ``bound``."""
    return above(-values, -bound)


def effect(smallest: float) -> Evidence:
    """Above zero. Against it: below the ``smallest`` effect that counts."""
    return lambda x: (_twice(above(x, 0)), _twice(below(x, smallest)))


def at_least(published: float, within: float) -> Evidence:
    """Not below the published value by ``within`` or more; against it: by more."""
    return lambda x: (_twice(above(x, published - within)), _twice(below(x, published - within)))


def at_most(published: float, within: float) -> Evidence:
    """Not above the published value by ``within`` or more; against it: by more."""
    return lambda x: (_twice(below(x, published + within)), _twice(above(x, published + within)))


def about(published: float, within: float) -> Evidence:
    """Off the published value by less than ``within``, by two one-sided tests (Schuirmann 1987); against: more."""

    def evidence(x: Seeds) -> tuple[float, float]:
        low, high = published - within, published + within
        return max(above(x, low), below(x, high)), _twice(min(below(x, low), above(x, high)))

    return evidence


def estimate(
    contrasts: Mapping[str, Contrast], evidence: Evidence, off: Callable[[float], float], any_of: bool
) -> Estimate:
    """The estimate of a claim that says the same of all contrasts or, with ``any_of``, of at least one.

    Shown is the contrast that decides: the one for which the claim is ``off`` the most (of any: the least). All of
    them hold when the least certain one does, so its p-value is that of the claim (Berger 1982); that any one speaks
    against the claim is corrected for their number (Bonferroni). Of any one it is the other way round. The interval is
    one of as many at once.
    """
    names, pairs = list(contrasts), list(contrasts.values())
    values = [_by_seed(contrast) for contrast in pairs]
    place = (np.argmin if any_of else np.argmax)([off(float(x.mean())) for x in values])
    one, count = values[place], len(values)
    supports, opposes = (np.array(each) for each in zip(*map(evidence, values), strict=True))
    decisive = (_any, _all) if any_of else (_all, _any)
    p, p_against = decisive[0](supports), decisive[1](opposes)
    low, high = interval(one, 1 - (1 - LEVEL) / count)
    note = f"{'best' if any_of else 'weakest'} of {count}: {names[place]}" if count > 1 else ""
    return Estimate(float(one.mean()), low, high, len(one), p, p_against, "; ".join(filter(None, [note, _doubt(one)])))


def wins(contrast: Contrast) -> Estimate:
    """The share of pairs above zero, in %, against one half; pairs that are equal count half.

    Pairs of one seed in several settings are not independent, so seeds are what is tested, by one side of the exact
    sign test each: many won ones speak for the claim, many lost ones against it, wherever the share lies. Interval:
    Clopper–Pearson for this share with as many trials as seeds (Korn & Graubard 1998, pairs of a seed taken as copies
    of each other).
    """
    difference, seeds = contrast.round(9), contrast.index.get_level_values("seed")
    won, equal, n = int((difference > 0).sum()), int((difference == 0).sum()), len(difference)
    share, count = (won + equal / 2) / n, seeds.nunique()
    low = stats.beta.ppf((1 - LEVEL) / 2, share * count, (1 - share) * count + 1) if share > 0 else 0.0
    high = stats.beta.ppf((1 + LEVEL) / 2, share * count + 1, (1 - share) * count) if share < 1 else 1.0
    ahead, behind = sides_of_seeds(difference.to_numpy(), seeds.to_numpy())
    p, p_against = (_twice(stats.binom.sf(least - 1, ahead + behind, 0.5)) for least in (ahead, behind))
    note = f"{won} of {n} pairs" + (f", {equal} equal" if equal else "") + f"; by seed {ahead} won, {behind} lost"
    if (smallest := sign_test(ahead + behind, 0)) >= ALPHA:
        note += f": too few to decide, no p-value of a sign test over them is below {smallest:g}"
    return Estimate(100 * share, float(100 * low), float(100 * high), count, p, p_against, note)


def unresolved(contrasts: Mapping[str, Contrast], margin: float, seeds: int) -> Estimate:
    """How many contrasts are neither significantly off zero nor significantly within ± ``margin``.

    p-values are not corrected here: a correction would leave more of them open, in favour of the claim. With fewer
    ``seeds`` than these, comparisons stay open for want of data whatever the methods are: there is no count then.
    """
    values = {name: _by_seed(contrast) for name, contrast in contrasts.items()}
    n = min(map(len, values.values()))
    if n < seeds:
        return Estimate(np.nan, n=n, note=f"{n} of {seeds} seeds: too few to tell what stays unresolved")
    told = {name: _decided(x, margin) for name, x in values.items()}
    note = ", ".join(f"{name}: {how}" for name, how in told.items())
    return Estimate(sum(how == "open" for how in told.values()), n=n, note=note)


def interval(values: Seeds, level: float) -> tuple[float, float]:
    """The t interval of the mean; NaN for one value, the value itself where all are equal."""
    if len(values) < 2:
        return np.nan, np.nan
    half = t_half_width(values.std(ddof=1), len(values), level)
    return float(values.mean() - half), float(values.mean() + half)


def _decided(values: Seeds, margin: float) -> str:
    if _twice(min(above(values, 0), below(values, 0))) < ALPHA:
        return "different"
    return "equivalent" if max(above(values, -margin), below(values, margin)) < ALPHA else "open"


def _all(p: NDArray[np.float64]) -> float:
    """The p-value that all of several hold: no correction; NaN where one is."""
    return float(p.max())


def _any(p: NDArray[np.float64]) -> float:
    """The p-value that at least one of several holds; one that is NaN counts among them, but decides nothing."""
    return np.nan if np.isnan(p).all() else min(1.0, len(p) * float(np.nanmin(p)))


def _by_seed(contrast: Contrast) -> Seeds:
    """The mean over settings of each seed; rounded, so that equal runs differ by exactly zero."""
    seeds, place = np.unique(contrast.index.get_level_values("seed"), return_inverse=True)
    means: Seeds = np.bincount(place, contrast.to_numpy(float), len(seeds)) / np.bincount(place)
    return np.round(means, 9)


def _twice(p: float) -> float:
    """The p-value of a two-sided test of which one side is looked at."""
    return float(np.minimum(1.0, 2 * p))


def _doubt(values: Seeds) -> str:
    if len(values) < 2:
        return "one seed: no interval and no test"
    return "the same for every seed: no spread to test with" if np.ptp(values) == 0 and values[0] else ""
