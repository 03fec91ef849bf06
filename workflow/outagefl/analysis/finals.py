"""Final accuracies on training and test images, where they were measured, and whether training diverged."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.results import collect, final, has_metric, metrics

PARTS = {"train": "train_accuracy", "test": "accuracy"}


def final_accuracies(index: pd.DataFrame, root: Path, tail: float) -> pd.DataFrame:
    """Rows for the metrics train and test of each run: setting, method, seed, metric, value, diverged.

    The value is that of ``results.final``, in %. A run without training accuracies has one row; one that does not tell
    of divergence did not diverge.
    """

    def of_run(folder: Path) -> pd.DataFrame:
        present = [metric for metric in (*PARTS.values(), "diverged") if has_metric(folder, metric)]
        frame = metrics(folder, present, mean=True)
        diverged = frame.loc[frame["metric"] == "diverged", "value"].any()
        rows = []
        for part, metric in PARTS.items():
            if metric not in present:
                continue
            own = frame[frame["metric"] == metric]
            value = final(own["round"].to_numpy(), own["value"].to_numpy(), tail)
            rows.append({"metric": part, "value": value, "diverged": diverged})
        return pd.DataFrame(rows)

    return collect(index, root, of_run)
