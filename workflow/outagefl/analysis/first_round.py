"""The first round at which the test accuracy reaches a target: how fast a method is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from outagefl.analysis.results import collect, metrics


def mean_accuracy(index: pd.DataFrame, root: Path) -> pd.DataFrame:
    """The accuracy in every evaluated round, mean over seeds: setting, method, round, value (%); rounds ascending."""
    runs = collect(index, root, lambda folder: metrics(folder, ["accuracy"], mean=True))
    order = runs[["setting", "method"]].drop_duplicates()
    means = runs.groupby(["setting", "method", "round"])["value"].mean().reset_index()
    return order.merge(means, on=["setting", "method"])


def first_round(rounds: np.ndarray, accuracy: np.ndarray, target: float) -> float:
    """The first of the ascending rounds (n,) whose accuracy (n,) is at least the target; infinite where none is."""
    reached = accuracy >= target - 1e-9
    return float(rounds[reached.argmax()]) if reached.any() else np.inf
