"""Pairs of runs that differ in nothing but the method: same factors, same seed, so same data, graph and outages."""

from __future__ import annotations

import pandas as pd

from outagefl.analysis.indexes import factors
from outagefl.errors import ConfigError, DataError, unknown


def pair(scores: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Every run of another method beside the baseline's run of the same factors and seed.

    Returns the rows of ``scores`` (see ``results.scores``) that are not the baseline's, with the new columns
    ``reference`` (the baseline's score) and ``difference`` (score − reference).
    Raises ConfigError for an unknown baseline and DataError naming a run that lacks its partner: an index is complete
    by construction, so a gap means lost runs, and dropping them would bias the comparison.
    """
    methods = list(dict.fromkeys(scores["method"]))
    if baseline not in methods:
        raise ConfigError(f"baseline: {unknown('method', baseline, methods)}")
    keys = [*factors(scores), "seed"]
    is_baseline = scores["method"] == baseline
    reference = scores.loc[is_baseline, keys].assign(reference=scores.loc[is_baseline, "score"])
    units = scores[keys].drop_duplicates()
    for method in methods:
        present = units.merge(scores.loc[scores["method"] == method, keys], on=keys, how="left", indicator=True)
        gaps = present.loc[present["_merge"] == "left_only", keys]
        if len(gaps):
            where = ", ".join(f"{key} {value}" for key, value in gaps.iloc[0].items())
            raise DataError(f"{method}: no run to pair with for {where} ({len(gaps)} missing)")
    paired = scores[~is_baseline].merge(reference, on=keys, how="left", validate="many_to_one")
    return paired.assign(difference=paired["score"] - paired["reference"])
