"""Table: final accuracy, final loss and area under the accuracy curve (Tables III to VI of the DFL-AA paper)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from outagefl.analysis.layout import arrange, marked, spread
from outagefl.analysis.published import published_beside
from outagefl.analysis.results import collect, final, metrics
from outagefl.analysis.writers import Table

KEYS = ["setting", "method", "metric"]
DIGITS = {"accuracy": 1, "loss": 3, "AUC": 0}
SMALLEST_IS_BEST = "loss"


def of_run(folder: Path, tail: float) -> pd.DataFrame:
    """Of one run: accuracy (%) and loss (nats) as ``results.final`` has them, AUC (% · virtual seconds).

    The AUC is the trapezoid of the accuracy from the first evaluation on.
    """
    frame = metrics(folder, ["accuracy", "loss"], mean=True)
    curves = {name: own.sort_values("time") for name, own in frame.groupby("metric")}
    values = {
        name: final(curves[name]["round"].to_numpy(), curves[name]["value"].to_numpy(), tail)
        for name in ("accuracy", "loss")
    }
    values["AUC"] = float(np.trapezoid(curves["accuracy"]["value"], curves["accuracy"]["time"]))
    return pd.DataFrame({"metric": list(values), "value": list(values.values())})


def tabulate(index: pd.DataFrame, root: Path, *, tail: float, published: str | None = None) -> Table:
    """Mean ± standard deviation over seeds, by setting and method, with the published accuracies where there are any.

    The best and the second best are marked. Tidy: setting, method, metric (accuracy, loss, AUC), mean, sd (missing for
    one seed), n, published_mean.
    """
    found = collect(index, root, lambda folder: of_run(folder, tail)).groupby(KEYS, sort=False)["value"]
    tidy = found.agg(mean="mean", sd="std", n="count").reset_index()
    theirs = published_beside(index, root, published, ["test"]).assign(metric="accuracy")
    tidy = tidy.merge(theirs[[*KEYS, "published_mean"]], on=KEYS, how="left", validate="one_to_one")
    cells = _cells(tidy)
    shown, marks = (arrange(cells, index, ["metric", "source"], value) for value in ("text", "mark"))
    few, many = tidy["n"].min(), tidy["n"].max()
    seeds = f"{few} seed{'s' if few > 1 else ''}" if few == many else f"{few} to {many} seeds"
    caption = (
        f"accuracy (%) and loss (nats) over the last {100 * tail:g} % of the evaluations and area under the accuracy "
        f"curve (AUC, % · virtual seconds) from the first evaluation on, mean ± standard deviation over {seeds}. Bold "
        "and underlined: the best and the second best."
    )
    if len(theirs):
        caption += " Paper: the published values, at the paper's size of the study."
    return Table(tidy, shown, caption, marks.reindex(columns=shown.columns))


def _cells(tidy: pd.DataFrame) -> pd.DataFrame:
    """A row per cell to be shown: setting, method, metric, source, text, mark."""
    ours = tidy[[*KEYS, "mean", "sd"]].assign(source="ours")
    theirs = tidy[KEYS].assign(mean=tidy["published_mean"], sd=np.nan, source="paper")
    cells = pd.concat([ours, theirs] if theirs["mean"].notna().any() else [ours]).sort_index(kind="stable")
    digits = cells["metric"].map(DIGITS)
    goodness = cells["mean"].where(cells["metric"] != SMALLEST_IS_BEST, -cells["mean"])
    rounded = pd.Series([round(value, n) for value, n in zip(goodness, digits, strict=True)], cells.index)
    cells["mark"] = marked(rounded, [cells["setting"], cells["metric"], cells["source"]])
    cells["text"] = [spread(*row) for row in zip(cells["mean"], cells["sd"], digits, strict=True)]
    return cells
