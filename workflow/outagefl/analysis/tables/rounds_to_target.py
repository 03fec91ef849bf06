"""Table: the first round at which the mean test accuracy reaches a target, with the published rounds.

After Table 7 of the FedSWE paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from outagefl.analysis.first_round import first_round, mean_accuracy
from outagefl.analysis.indexes import setting
from outagefl.analysis.layout import arrange
from outagefl.analysis.published import published_beside
from outagefl.analysis.records import read_record
from outagefl.analysis.results import final
from outagefl.analysis.writers import DASH, NEVER, Table
from outagefl.errors import DataError

QUARTERS = np.array([0.25, 0.5, 0.75, 1.0])
KEYS = ["setting", "method", "target"]


def tabulate(
    index: pd.DataFrame,
    root: Path,
    *,
    tail: float,
    chance: float,
    targets: Mapping[str, Mapping[str, Any]],
    published: str | None = None,
) -> Table:
    """First rounds to reach each target, of the mean accuracy over seeds, by setting and method.

    ``targets``: data set → accuracy (targets in %) and every (only rounds that are multiples of it are looked at). A
    data set without has four: the quarters of its best final accuracy here, that rounded down to tens. Before its first
    round a run is not evaluated: a target of at most ``chance`` (%, guessing) counts as met at the start, round 0.
    Tidy: setting, method, dataset, target, rounds (infinite for never), published_rounds.
    """
    curves = mean_accuracy(index, root)
    first = index.assign(setting=setting(index)).drop_duplicates("setting").set_index("setting")["run"]
    datasets = first.map(lambda run: read_record(Path(root) / run, "spec")["dataset"]["kind"])
    curves["dataset"] = curves["setting"].map(datasets)
    rows = []
    for dataset, own in curves.groupby("dataset", sort=False):
        looked_for = targets.get(str(dataset)) or {"every": 1, "accuracy": _quarters(own, tail)}
        for (where, method), curve in own.groupby(["setting", "method"], sort=False):
            looked_at = curve[curve["round"] % looked_for["every"] == 0]
            if looked_at.empty:
                raise DataError(f"targets: {dataset}: no evaluated round is a multiple of {looked_for['every']}")
            for target in looked_for["accuracy"]:
                found = first_round(looked_at["round"].to_numpy(), looked_at["value"].to_numpy(), target)
                rounds = 0.0 if target <= chance else found
                rows.append(
                    {"setting": where, "method": method, "dataset": dataset, "target": target, "rounds": rounds}
                )
    tidy = pd.DataFrame(rows).astype({"target": float})
    theirs = published_beside(index, root, published, ["rounds"])
    theirs = theirs.rename(columns={"published_mean": "published_rounds"})[[*KEYS, "published_rounds"]]
    tidy = tidy.merge(theirs.astype({"target": float}), on=KEYS, how="left", validate="one_to_one")
    shown = arrange(_cells(tidy), index, ["target", "source"], "text")
    return Table(tidy, shown, _caption(tidy, chance, targets))


def _quarters(curves: pd.DataFrame, tail: float) -> list[float]:
    """Four targets for the curves of one data set."""
    by_run = curves.groupby(["setting", "method"])
    best = max(final(own["round"].to_numpy(), own["value"].to_numpy(), tail) for _, own in by_run)
    return [float(target) for target in QUARTERS * (10 * np.floor(best / 10))]


def _cells(tidy: pd.DataFrame) -> pd.DataFrame:
    cells = tidy.rename(columns={"rounds": "ours", "published_rounds": "paper"})
    cells["target"] = [f"{target:g} %" for target in tidy["target"]]
    sources = ["ours", "paper"] if tidy["published_rounds"].notna().any() else ["ours"]
    cells = cells.melt(["setting", "method", "target"], sources, "source", ignore_index=False).sort_index(kind="stable")
    return cells.assign(text=cells["value"].map(_text))


def _text(rounds: float) -> str:
    return DASH if pd.isna(rounds) else NEVER if np.isinf(rounds) else f"{rounds:.0f}"


def _caption(tidy: pd.DataFrame, chance: float, targets: Mapping[str, Mapping[str, Any]]) -> str:
    datasets = list(dict.fromkeys(tidy["dataset"]))
    parts = ["first round at which the test accuracy, mean over seeds, reaches the target."]
    if declared := [f"{targets[name]['every']} ({name})" for name in datasets if name in targets]:
        parts.append(f"Looked at every {', '.join(declared)} rounds.")
    if own := [name for name in datasets if name not in targets]:
        parts.append(
            f"{', '.join(own)}: looked at in every evaluated round; targets are the quarters of the best final "
            "accuracy here, rounded down to tens."
        )
    parts.append(f"0: at most {chance:g} %, what guessing gives, so met at the start. {NEVER}: never.")
    if tidy["published_rounds"].notna().any():
        parts.append(f"Paper: the published rounds ({DASH}: none published).")
    return " ".join(parts)
