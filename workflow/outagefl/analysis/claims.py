"""The published claims beside our results, with a verdict for each (see ``verdicts`` for the rule).

The registry ``config/claims.yaml`` maps a claim's id to: study, source (where it is published), text, experiment (null
for a worked example), statistic (kind and parameters, see ``estimates`` and ``worked_examples``), published, unit, and
where needed sense, tolerance and note. The family of the Holm correction is all claims of one study that are tested at
this scale; the tests of equivalence form a second one. Upper bounds (sense ``at most``) are judged by their interval
and are in neither, nor are counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from outagefl.analysis import estimates, worked_examples
from outagefl.analysis.estimates import Estimate
from outagefl.analysis.statistics import holm
from outagefl.analysis.verdicts import AT_MOST, COUNT, NOT_RUN, judge, judge_at_most, judge_count, judge_example
from outagefl.analysis.writers import DASH, NO_BREAK, p_value
from outagefl.errors import ConfigError

COLUMNS = ["id", "study", "text", "source", "sense", "published", "unit", "ours", "low", "high", "n", "p"]
COLUMNS += ["p_equivalence", "verdict", "scale", "note"]


def evaluate(
    claims: Mapping[str, Mapping[str, Any]],
    experiments: Iterable[pd.DataFrame],
    margins: Mapping[str, float],
    scale: str,
    notes: Mapping[str, str],
) -> pd.DataFrame:
    """One row per claim, in the registry's order.

    ``experiments``: the scores (``results.scores``) of every experiment of the scale; ``margins``: study → equivalence
    margin in the scores' unit; ``notes``: "study/experiment" → what a reader must know of its data.

    Columns: id, study, text, source, sense, published, unit, ours, low, high (95 % interval), n (pairs), p and
    p_equivalence (Holm-corrected; missing for an upper bound or a count), verdict, scale, note.
    Raises ConfigError for a claim without a statistic whose experiment is run at this scale.
    """
    by_name = {(frame["study"].iloc[0], frame["experiment"].iloc[0]): frame for frame in experiments}
    rows = []
    for name, claim in claims.items():
        study, experiment = claim["study"], claim["experiment"]
        runs = by_name.get((study, experiment))
        estimate, gap = _estimate(name, claim, runs, margins)
        data = notes.get(f"{study}/{experiment}") if runs is not None else None
        remarks = [estimate.note if estimate else gap, data, claim.get("note")]
        ours = asdict(estimate) if estimate else {"ours": np.nan, "n": 0}
        if claim.get("sense") == AT_MOST:
            ours |= {"p": np.nan, "p_equivalence": np.nan}
        told = {key: claim.get(key) for key in ("study", "text", "source", "sense", "published", "unit", "tolerance")}
        told |= {"margin": margins.get(study), "scale": scale}
        rows.append({"id": name, **told, **ours, "note": "; ".join(filter(None, remarks))})
    table = pd.DataFrame(rows).reindex(columns=[*COLUMNS, "null", "tolerance", "margin"])
    for column in ("p", "p_equivalence"):
        table[column] = table.groupby("study")[column].transform(holm)
    table["verdict"] = [_verdict(row) for row in table.to_dict("records")]
    return table[COLUMNS]


def claims_table(evaluated: pd.DataFrame) -> pd.DataFrame:
    """The frame of text to be shown to readers, one row per claim, from what ``evaluate`` returns."""
    rows = [
        {
            "claim": f"{row['text']} ({row['source']})",
            "verdict": row["verdict"],
            "published": ("≤" + NO_BREAK if row["sense"] == AT_MOST else "") + _quantity(row["published"], row["unit"]),
            "ours": _quantity(row["ours"], row["unit"]),
            "95 % interval": _interval(row["low"], row["high"]),
            "p (Holm)": p_value(row["p"]),
            "pairs": row["n"] or DASH,
            "note": row["note"],
        }
        for row in evaluated.to_dict("records")
    ]
    return pd.DataFrame(rows, index=evaluated["id"].to_list())


def _estimate(
    name: str, claim: Mapping[str, Any], runs: pd.DataFrame | None, margins: Mapping[str, float]
) -> tuple[Estimate | None, str]:
    """The claim's estimate, or None and why there is none beyond its experiment not being run."""
    statistic = dict(claim.get("statistic") or {})
    kind = statistic.pop("kind", None)
    if claim["experiment"] is None:
        return worked_examples.KINDS[kind](**statistic), ""
    if runs is None:
        return None, ""
    if kind is None:
        where = f"{claim['study']}/{claim['experiment']}"
        raise ConfigError(f"claims: {name}: {where} is run at this scale, so the claim needs a statistic")
    for column, needed in estimates.needs(statistic).items():
        present = set(runs[column]) if column in runs else set()
        if absent := [name for name in needed if name not in present]:
            what = "methods" if column == "method" else f"levels of {column}"
            return None, f"{absent[0]} is not among the {what} of {claim['experiment']} at this scale"
    return estimates.KINDS[kind](runs, margins[claim["study"]], **statistic), ""


def _verdict(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["ours"]):
        return NOT_RUN
    if pd.notna(row["tolerance"]):
        return judge_example(row["published"], row["ours"], row["tolerance"])
    if row["sense"] == AT_MOST:
        return judge_at_most(row["published"], row["low"], row["high"], row["margin"])
    if row["sense"] == COUNT:
        return judge_count(row["published"], row["ours"])
    ours, low, high = (row[key] - row["null"] for key in ("ours", "low", "high"))
    published = 0.0 if pd.isna(row["published"]) else row["published"] - row["null"]
    return judge(published, ours, low, high, p=row["p"], p_equivalence=row["p_equivalence"])


def _number(value: float) -> str:
    return f"{value:#.3g}".rstrip(".").replace("-", "−")


def _interval(low: float, high: float) -> str:
    return DASH if pd.isna(low) else f"{_number(low)}{NO_BREAK}…{NO_BREAK}{_number(high)}"


def _quantity(value: float, unit: str) -> str:
    return DASH if pd.isna(value) else f"{_number(value)}{NO_BREAK}{unit}"
