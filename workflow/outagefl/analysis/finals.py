"""Final accuracies on training and test images, and whether training diverged, of the runs of a server study."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.results import collect, final, metrics

PARTS = {"train": "train_accuracy", "test": "accuracy"}


def final_accuracies(index: pd.DataFrame, root: Path, tail: float) -> pd.DataFrame:
    """Two rows per run: setting, method, seed, metric (train, test), value (as ``results.final``, in %), diverged."""

    def of_run(folder: Path) -> pd.DataFrame:
        frame = metrics(folder, [*PARTS.values(), "diverged"], mean=True)
        diverged = frame.loc[frame["metric"] == "diverged", "value"].any()
        rows = []
        for part, metric in PARTS.items():
            own = frame[frame["metric"] == metric]
            value = final(own["round"].to_numpy(), own["value"].to_numpy(), tail)
            rows.append({"metric": part, "value": value, "diverged": diverged})
        return pd.DataFrame(rows)

    return collect(index, root, of_run)
