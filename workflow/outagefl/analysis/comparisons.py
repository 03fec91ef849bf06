"""Every method against each baseline, in every setting and over all settings: the numbers behind the study table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

import pandas as pd

from outagefl.analysis.indexes import setting
from outagefl.analysis.pairing import pair
from outagefl.analysis.statistics import Comparison, clustered, compare, holm, t_half_width

ALL = "all settings"
TESTS = ("p_t", "p_wilcoxon", "p_sign", "p_equivalence")
COLUMNS = [
    "baseline",
    "setting",
    "method",
    "mean",
    "mean_low",
    "mean_high",
    *(field.name for field in fields(Comparison)),
]


def comparisons(scores: pd.DataFrame, baselines: Sequence[str], margin: float) -> pd.DataFrame:
    """For each baseline a row per setting × method, then, where there are several settings, one per method over all.

    ``scores`` is an index with scores (``results.scores``), ``margin`` the largest difference that counts as none, in
    the score's unit. Columns: baseline, setting, method, mean score with its 95 % t interval mean_low … mean_high over
    seeds (each seed's mean where there are several settings; missing for a single seed), then those of
    ``statistics.Comparison`` (missing for the baseline itself) and each test's p-value Holm-corrected (``…_holm``) over
    its family: all other methods × settings, and apart from these the rows over all settings. Every baseline has
    families of its own: what is better than it is a question of its own. Raises as ``pairing.pair``.
    """
    runs = scores.assign(setting=setting(scores))
    tables = []
    for baseline in baselines:
        paired = pair(runs, baseline)
        tables.append(_family(runs, paired, margin).assign(baseline=baseline))
        if runs["setting"].nunique() > 1:
            pooled = _family(runs.assign(setting=ALL), paired.assign(setting=ALL), margin)
            tables.append(pooled.assign(baseline=baseline))
    return pd.concat(tables, ignore_index=True)


def _family(runs: pd.DataFrame, paired: pd.DataFrame, margin: float) -> pd.DataFrame:
    """The rows of one family of tests; under the label ``ALL`` pairs are clustered by seed."""
    rows = []
    for (where, method), own in runs.groupby(["setting", "method"], sort=False):
        by_seed = own.groupby("seed")["score"].mean()
        mean, half = by_seed.mean(), float(t_half_width(by_seed.std(), len(by_seed)))
        row = {"setting": where, "method": method, "mean": mean, "mean_low": mean - half, "mean_high": mean + half}
        pairs = paired[(paired["setting"] == where) & (paired["method"] == method)]
        if len(pairs) and where == ALL:
            row |= asdict(clustered(pairs["difference"].to_numpy(), pairs["seed"].to_numpy(), margin))
        elif len(pairs):
            row |= asdict(compare(pairs["difference"].to_numpy(), margin))
        rows.append(row)
    table = pd.DataFrame(rows).reindex(columns=COLUMNS).astype({"n": "Int64", "wins": "Int64", "losses": "Int64"})
    return table.assign(**{f"{test}_holm": holm(table[test]) for test in TESTS})
