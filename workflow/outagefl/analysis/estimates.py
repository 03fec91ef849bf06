"""What a claim's statistic is in our runs: one function per kind of statistic.

Each takes the scores of one experiment (``results.scores``), the equivalence margin in the scores' unit and the
parameters named in the claim registry. Settings are pooled and intervals clustered by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from outagefl.analysis.pairing import pair
from outagefl.analysis.statistics import LEVEL, clustered, holm, sign_test


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


def paired_gain(scores: pd.DataFrame, margin: float, *, method: str, baseline: str) -> Estimate:
    """The mean difference of a method to a baseline, over all settings."""
    pairs = pair(scores[scores["method"].isin([method, baseline])], baseline)
    gain = clustered(pairs["difference"], pairs["seed"], margin)
    note = f"better in {gain.wins} of {gain.n} pairs"
    return Estimate(gain.difference, gain.low, gain.high, gain.n, gain.p_t, gain.p_equivalence, note=note)


def best_gain(scores: pd.DataFrame, margin: float, *, methods: Sequence[str], baseline: str) -> Estimate:
    """``paired_gain`` of the method with the largest one; its p-value is Holm-corrected for the choice.

    The value itself is not corrected: the largest of several gains is a little too large on average.
    """
    gains = [paired_gain(scores, margin, method=method, baseline=baseline) for method in methods]
    best = int(np.argmax([gain.ours for gain in gains]))
    p = float(holm([gain.p for gain in gains])[best])
    gain = gains[best]
    note = f"best of {len(methods)}: {methods[best]}, {gain.note}"
    return Estimate(gain.ours, gain.low, gain.high, gain.n, p, gain.p_equivalence, note=note)


def win_share(scores: pd.DataFrame, margin: float, *, method: str, baseline: str) -> Estimate:
    """The share of pairs, in %, in which a method beats a baseline, against one half.

    Pairs of one seed in several settings are not independent, so seeds are what is counted. p: exact sign test over
    seeds, a seed standing on the side of most of its pairs (ties dropped). Interval: Clopper–Pearson for this share
    with as many trials as seeds (Korn & Graubard 1998, pairs of a seed taken as copies of each other). There is no
    equivalence test.
    """
    pairs = pair(scores[scores["method"].isin([method, baseline])], baseline)
    difference = pairs["difference"].round(9)
    wins, n = int((difference > 0).sum()), len(pairs)
    sides = np.sign(difference).groupby(pairs["seed"]).sum()
    seeds, share = len(sides), wins / n
    low = stats.beta.ppf((1 - LEVEL) / 2, share * seeds, (1 - share) * seeds + 1) if wins else 0.0
    high = stats.beta.ppf((1 + LEVEL) / 2, share * seeds + 1, (1 - share) * seeds) if wins < n else 1.0
    p = sign_test(int((sides > 0).sum()), int((sides < 0).sum()))
    note = f"{wins} of {n} pairs; tested over {seeds} seeds, since pairs of a seed are not independent"
    return Estimate(100 * share, float(100 * low), float(100 * high), n, p, null=50.0, note=note)


KINDS = {function.__name__: function for function in (paired_gain, best_gain, win_share)}
