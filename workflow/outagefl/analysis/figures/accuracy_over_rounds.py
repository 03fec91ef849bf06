"""Figure: accuracy over the rounds, one panel per setting, mean over seeds with 95 % intervals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, style
from outagefl.analysis.results import collect, metrics


def draw(index: pd.DataFrame, root: Path, *, score: str) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root.

    ``score`` says what the study's accuracy is. Beside the curves stands the last round's 95 % t interval over seeds;
    a single seed has none.
    """
    accuracy = collect(index, root, lambda folder: metrics(folder, ["accuracy"], mean=True))
    with style.theme():
        figure, _ = curves.draw_panels(accuracy, index, "round", "round", f"{score} (%)")
    return figure
