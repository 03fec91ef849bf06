"""What a claim's statistic is in our runs: one function per kind of statistic.

Each takes the scores of one experiment (``results.scores``), the equivalence margin in the scores' unit and the
parameters named in the claim registry. Settings are pooled and intervals clustered by seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from outagefl.analysis.indexes import factors
from outagefl.analysis.looks import label
from outagefl.analysis.pairing import pair
from outagefl.analysis.statistics import LEVEL, Comparison, clustered, holm, sign_test_by_seed
from outagefl.analysis.verdicts import UNRESOLVED, decide


@dataclass(frozen=True)
class Estimate:
    """Our value with its 95 % interval, the number of pairs, and the p-values of no effect and of equivalence.

    ``null`` is the value that means no effect. What does not apply is NaN.
    """

    ours: float
    low: float = np.nan
    high: float = np.nan
    n: int = 0
    p: float = np.nan
    p_equivalence: float = np.nan
    null: float = 0.0
    note: str = ""


def needs(statistic: Mapping[str, Any]) -> dict[str, list[str]]:
    """What an experiment must have for a statistic of the registry: methods under ``method``, levels under factors."""
    named = [statistic[key] for key in ("method", "baseline") if key in statistic]
    named += [*statistic.get("methods", []), *(method for pair in statistic.get("pairs", []) for method in pair)]
    levels = {factor: [str(level)] for factor, level in statistic.get("where", {}).items()}
    if "factor" in statistic:
        levels[statistic["factor"]] = [str(statistic["more"]), str(statistic["less"])]
    return {"method": named, **levels}


def gains(scores: pd.DataFrame, method: str, baseline: str) -> pd.DataFrame:
    """The pairs of a method and a baseline, as ``pairing.pair`` has them."""
    return pair(scores[scores["method"].isin([method, baseline])], baseline)


def paired_gain(
    scores: pd.DataFrame, margin: float, *, method: str, baseline: str, where: Mapping[str, Any] | None = None
) -> Estimate:
    """The mean difference of a method to a baseline, over all settings, or those with these levels of some factors."""
    for factor, level in (where or {}).items():
        scores = scores[scores[factor] == str(level)]
    pairs = gains(scores, method, baseline)
    return _estimate(clustered(pairs["difference"], pairs["seed"], margin), "better in {wins} of {n} pairs")


def gain_difference(
    scores: pd.DataFrame, margin: float, *, method: str, baseline: str, factor: str, more: Any, less: Any
) -> Estimate:
    """By how much the gain over a baseline at the level ``more`` of a factor exceeds that at the level ``less``.

    Gains are subtracted within a seed and a setting of the other factors.
    """
    pairs = gains(scores, method, baseline)
    same = [*(key for key in factors(scores) if key != factor), "seed"]
    by_level = pairs.pivot(index=same, columns=factor, values="difference")
    difference = (by_level[str(more)] - by_level[str(less)]).rename("difference").reset_index()
    told = "larger in {wins} of {n} pairs of gains"
    return _estimate(clustered(difference["difference"], difference["seed"], margin), told)


def unresolved_pairs(scores: pd.DataFrame, margin: float, *, pairs: Sequence[Sequence[str]], seeds: int) -> Estimate:
    """How many pairs of methods are, over all settings, neither significantly different nor equivalent.

    p-values are Holm-corrected over the pairs. With fewer ``seeds`` than these, comparisons stay unresolved for want of
    data whatever the methods are: there is no estimate then.
    """
    if (found := scores["seed"].nunique()) < seeds:
        return Estimate(np.nan, note=f"{found} of {seeds} seeds: too few to tell what stays unresolved")
    compared = [gains(scores, *names) for names in pairs]
    tests = [clustered(own["difference"], own["seed"], margin) for own in compared]
    p, p_equivalence = holm([test.p_t for test in tests]), holm([test.p_equivalence for test in tests])
    decided = [decide(test.difference, *both) for test, *both in zip(tests, p, p_equivalence, strict=True)]
    told = [f"{label(one)} and {label(other)}: {how}" for (one, other), how in zip(pairs, decided, strict=True)]
    return Estimate(decided.count(UNRESOLVED), n=sum(test.n for test in tests), note=", ".join(told))


def _estimate(found: Comparison, note: str) -> Estimate:
    note = note.format(wins=found.wins, n=found.n)
    return Estimate(found.difference, found.low, found.high, found.n, found.p_t, found.p_equivalence, note=note)


def best_gain(scores: pd.DataFrame, margin: float, *, methods: Sequence[str], baseline: str) -> Estimate:
    """``paired_gain`` of the method with the largest one; its p-value is Holm-corrected for the choice.

    The value itself is not corrected: the largest of several gains is a little too large on average.
    """
    found = [paired_gain(scores, margin, method=method, baseline=baseline) for method in methods]
    best = int(np.argmax([gain.ours for gain in found]))
    p = float(holm([gain.p for gain in found])[best])
    gain = found[best]
    note = f"best of {len(methods)}: {methods[best]}, {gain.note}"
    return Estimate(gain.ours, gain.low, gain.high, gain.n, p, gain.p_equivalence, note=note)


def win_share(scores: pd.DataFrame, margin: float, *, method: str, baseline: str) -> Estimate:
    """The share of pairs, in %, in which a method beats a baseline, against one half.

    Pairs of one seed in several settings are not independent, so seeds are what is counted. p: exact sign test over
    seeds. Interval: Clopper–Pearson for this share with as many trials as seeds (Korn & Graubard 1998, pairs of a seed
    taken as copies of each other). There is no equivalence test.
    """
    pairs = gains(scores, method, baseline)
    difference = pairs["difference"].round(9)
    wins, n = int((difference > 0).sum()), len(pairs)
    seeds, share = pairs["seed"].nunique(), wins / n
    low = stats.beta.ppf((1 - LEVEL) / 2, share * seeds, (1 - share) * seeds + 1) if wins else 0.0
    high = stats.beta.ppf((1 + LEVEL) / 2, share * seeds + 1, (1 - share) * seeds) if wins < n else 1.0
    p = sign_test_by_seed(difference, pairs["seed"])
    note = f"{wins} of {n} pairs; tested over {seeds} seeds, since pairs of a seed are not independent"
    return Estimate(100 * share, float(100 * low), float(100 * high), n, p, null=50.0, note=note)


KINDS = {
    function.__name__: function for function in (paired_gain, best_gain, win_share, gain_difference, unresolved_pairs)
}
