"""How a method's lead over the others divides into its rule, its self weight and quirks of the papers' released code.

The lead over a method is the method of interest's score minus its own, in points, seed by seed. Its ``PARTS``:

- rule: the lead over the control, which is the method of interest without its factors: plain averaging;
- self weight: what the control gains over the method, so that rule and self weight sum to the lead under the paper's
  protocol. Beside a lighter self weight it holds whatever else the method does otherwise than plain averaging;
- a quirk: how much the lead changes when this quirk of the released code is switched on alone;
- rest: what the released code's lead has beyond the paper's and all single changes: quirks that are not among them, and
  how quirks work together.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from outagefl.analysis.indexes import setting
from outagefl.analysis.pairing import pair
from outagefl.analysis.published_curves import curves_beside
from outagefl.analysis.results import scores
from outagefl.analysis.statistics import LEVEL
from outagefl.errors import ConfigError

SWITCH, PAPER, RELEASED = "protocol", "paper", "released"
RULE, SELF, REST = "rule", "self weight", "rest"
LEAD = "lead, "  # before the protocol whose whole lead it is
CELL = ["setting", "method"]


def leads(index: pd.DataFrame, root: Path, tail: float, baseline: str, control: str) -> pd.DataFrame:
    """The lead of ``baseline`` over every other method: setting, protocol, method, seed, lead (points).

    A setting is what the factors other than the protocol say. Raises ConfigError for an experiment without the
    protocol ``paper`` or the method ``control``.
    """
    if SWITCH not in index or PAPER not in set(index[SWITCH]):
        raise ConfigError(f"audit: the experiment has no factor {SWITCH} with the level {PAPER}")
    if control not in set(index["method"]):
        raise ConfigError(f"audit: the control {control!r} is not among the methods")
    runs = scores(index, root, tail)
    pairs = pair(runs.assign(setting=setting(index.drop(columns=SWITCH))), baseline)
    return pairs.assign(lead=(-pairs["difference"]).round(9))[["setting", SWITCH, "method", "seed", "lead"]]


def quirk_name(protocol: str) -> str:
    """What is shown for a protocol: ``only_out_neighbours`` is the quirk ``out neighbours``."""
    return protocol.removeprefix("only_").replace("_", " ")


def parts(found: pd.DataFrame, control: str) -> pd.DataFrame:
    """The parts of every lead, a row per seed: setting, method, seed, part, value; ``found``: see ``leads``."""
    keys = [*CELL, "seed"]
    wide = found.pivot(index=keys, columns=SWITCH, values="lead").reset_index()
    wide = found[keys].drop_duplicates().merge(wide, on=keys)
    rule = wide.loc[wide["method"] == control, ["setting", "seed", PAPER]].rename(columns={PAPER: RULE})
    wide = wide.merge(rule, on=["setting", "seed"], how="left", validate="many_to_one")
    paper = wide[PAPER]
    columns = {LEAD + PAPER: paper, RULE: wide[RULE], SELF: paper - wide[RULE]}
    quirks = [name for name in dict.fromkeys(found[SWITCH]) if name not in (PAPER, RELEASED)]
    columns |= {quirk_name(name): wide[name] - paper for name in quirks}
    if RELEASED in wide:
        columns[REST] = wide[RELEASED] - paper - sum(wide[name] - paper for name in quirks)
        columns[LEAD + RELEASED] = wide[RELEASED]
    table = wide[keys].assign(**columns)
    return table.melt(keys, var_name="part", ignore_index=False).sort_index(kind="stable").reset_index(drop=True)


def published_leads(index: pd.DataFrame, root: Path, baseline: str, curves: str | None) -> pd.DataFrame:
    """The leads at the ends of the published curves: setting, method, value; none where there is no such curve."""
    own = index[index[SWITCH] == PAPER].drop(columns=SWITCH)
    ends = curves_beside(own, root, curves).groupby(CELL, sort=False)["accuracy"].last().unstack("method")
    if baseline not in ends:
        return pd.DataFrame(columns=[*CELL, "value"])
    lead = ends.drop(columns=baseline).rsub(ends[baseline], axis=0)
    return lead.reset_index().melt("setting", var_name="method").dropna()


def summary(values: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Over the seeds of each cell: mean with its 95 % t interval (low, high), p-value of zero, and n.

    One seed has neither interval nor p-value; values that are all zero have p = 1.
    """
    rows = []
    for key, cell in values.groupby(keys, sort=False)["value"]:
        sample = cell.round(9).to_numpy()
        row = dict(zip(keys, key, strict=True)) | {"mean": sample.mean(), "n": len(sample)}
        if len(sample) > 1 and np.ptp(sample) > 0:
            test = stats.ttest_1samp(sample, 0)
            row["low"], row["high"] = test.confidence_interval(LEVEL)
            row["p"] = test.pvalue
        elif not sample.any():
            row |= {"low": 0.0, "high": 0.0, "p": 1.0}
        rows.append(row)
    return pd.DataFrame(rows, columns=[*keys, "mean", "low", "high", "p", "n"])
