"""Table: final accuracy on training and test images of every method in every setting, with the published values.

After Tables 2, 8 and 9 of the FedSWE paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from outagefl.analysis.finals import PARTS, final_accuracies
from outagefl.analysis.layout import arrange, marked, spread
from outagefl.analysis.looks import label
from outagefl.analysis.published import published_beside
from outagefl.analysis.writers import Table

KEYS = ["setting", "method", "metric"]
DIGITS = 1
DIVERGED = "†"


def tabulate(
    index: pd.DataFrame, root: Path, *, tail: float, aided: Sequence[str] = (), published: str | None = None
) -> Table:
    """Mean ± standard deviation over seeds of the final accuracies, in %, ours and where there are any the published.

    Best and second best are marked among the methods that are not ``aided`` by memory or known statistics. Tidy:
    setting, method, metric, mean, sd (missing for one seed), n, diverged (runs), published_mean, published_sd,
    difference.
    """
    found = final_accuracies(index, root, tail).groupby(KEYS, sort=False)
    tidy = found.agg(mean=("value", "mean"), sd=("value", "std"), n=("value", "count"), diverged=("diverged", "sum"))
    theirs = published_beside(index, root, published, list(PARTS)).drop(columns="target")
    tidy = tidy.reset_index().merge(theirs, on=KEYS, how="left", validate="one_to_one")
    tidy["difference"] = tidy["mean"] - tidy["published_mean"]
    cells = _cells(tidy, aided)
    shown, marks = (arrange(cells, index, ["metric", "source"], value) for value in ("text", "mark"))
    present = [method for method in dict.fromkeys(index["method"]) if method in aided]
    return Table(tidy, shown, _caption(tidy, tail, present), marks.reindex(columns=shown.columns))


def _cells(tidy: pd.DataFrame, aided: Sequence[str]) -> pd.DataFrame:
    """A row per cell to be shown: setting, method, metric, source, text, mark."""
    flag = np.where(tidy["diverged"] > 0, DIVERGED, "")
    ours = tidy[KEYS].assign(source="ours", mean=tidy["mean"], sd=tidy["sd"], flag=flag)
    theirs = tidy[KEYS].assign(source="paper", mean=tidy["published_mean"], sd=tidy["published_sd"], flag="")
    cells = pd.concat([ours, theirs] if theirs["mean"].notna().any() else [ours]).sort_index(kind="stable")
    rivals = cells["mean"].where(~cells["method"].isin(aided)).round(DIGITS)
    cells["mark"] = marked(rivals, [cells["setting"], cells["metric"], cells["source"]])
    texts = [spread(mean, sd, DIGITS) for mean, sd in zip(cells["mean"], cells["sd"], strict=True)]
    return cells.assign(text=texts + cells["flag"])


def _caption(tidy: pd.DataFrame, tail: float, aided: Sequence[str]) -> str:
    few, many = tidy["n"].min(), tidy["n"].max()
    seeds = f"{few} seed{'s' if few > 1 else ''}" if few == many else f"{few} to {many} seeds"
    parts = [f"accuracy (%) over the last {100 * tail:g} % of the rounds, mean ± standard deviation over {seeds}."]
    among = f" of the methods without the aid of memory or known statistics (all but {_listed(aided)})" if aided else ""
    parts.append(f"Bold and underlined: the best and the second best{among}.")
    if tidy["published_mean"].notna().any():
        parts.append("Paper: the published values, at the paper's size of the study.")
    if tidy["diverged"].any():
        parts.append(f"{DIVERGED}: training diverged in at least one run, which counts as guessing from there on.")
    return " ".join(parts)


def _listed(methods: Sequence[str]) -> str:
    return ", ".join(label(method) for method in methods)
