"""Table: how much of a method's lead is its rule, its self weight, or a quirk of the released code."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis import audit
from outagefl.analysis.comparison_table import signed, stars
from outagefl.analysis.looks import label
from outagefl.analysis.statistics import holm
from outagefl.analysis.writers import DASH, NO_BREAK, Table

PUBLISHED = "lead, published"


def tabulate(
    index: pd.DataFrame, root: Path, *, tail: float, baseline: str, control: str, curves: str | None = None
) -> Table:
    """The parts of every lead (``outagefl.analysis.audit``) by setting and method, with what the papers' curves show.

    Tidy: setting, method, part, mean (points), the ends low, high of its 95 % t interval over seeds, p (t-test of
    zero), p_holm (corrected over the table), n; of a published lead the mean alone.
    """
    values = audit.parts(audit.leads(index, root, tail, baseline, control), control)
    tidy = audit.summary(values, [*audit.CELL, "part"])
    tidy["p_holm"] = holm(tidy["p"])
    theirs = audit.published_leads(index, root, baseline, curves).rename(columns={"value": "mean"})
    tidy = pd.concat([tidy, theirs.assign(part=PUBLISHED)] if len(theirs) else [tidy], ignore_index=True)
    cells = tidy.assign(text=[_text(*cell) for cell in zip(tidy["mean"], tidy["high"], tidy["p_holm"], strict=True)])
    rows = ["setting", "method"] if tidy["setting"].nunique() > 1 else ["method"]
    shown = cells.assign(method=cells["method"].map(label)).pivot(index=rows, columns="part", values="text")
    order = cells.assign(method=cells["method"].map(label))[rows].drop_duplicates()
    shown = shown.loc[list(order.itertuples(index=False, name=None)) if len(rows) > 1 else order["method"].to_list()]
    shown = shown[list(dict.fromkeys(tidy["part"]))].fillna(DASH)
    shown.index.names, shown.columns.name = [None] * len(rows), None
    return Table(tidy, shown, _caption(baseline, control, tail, bool(len(theirs))))


def _text(mean: float, high: float, p: float) -> str:
    half = "" if pd.isna(high) or high == mean else f"{NO_BREAK}±{NO_BREAK}{high - mean:.1f}"
    return signed(mean, 1) + stars(p) + half


def _caption(baseline: str, control: str, tail: float, published: bool) -> str:
    name = label(baseline)
    parts = [
        f"{name}'s lead in accuracy (points, mean over the last {100 * tail:g} % of the evaluations) over each method, "
        "± half the 95 % t interval over seeds; stars: Holm-corrected paired t-test of zero (* < .05, ** < .01, "
        "*** < .001).",
        f"Lead, paper = rule (the lead over {label(control)}, which averages evenly) + self weight (what that gains "
        "over the method). Each quirk of the released code: by how much it alone changes the lead, 0 where it touches "
        "neither method. Lead, released = lead, paper + quirks + rest (quirks not listed, and how all work together).",
    ]
    if published:
        parts.append("Published: at the end of the papers' curves, read from their figures (±0.3).")
    return " ".join(parts)
