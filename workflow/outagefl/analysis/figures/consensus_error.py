"""Figure: how far apart the clients' models are, over the rounds (Figure 6 of the FedSWE paper)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, looks, style
from outagefl.analysis.levels import levels_as_lines
from outagefl.analysis.results import collect, has_metric, metrics
from outagefl.errors import DataError

METRIC = "consensus_error"


def draw(index: pd.DataFrame, root: Path, *, level: str | None = None) -> Figure:
    """Draw (1/m) Σ ‖x_i − x̄‖² of the methods whose clients keep models of their own, on a logarithmic axis.

    A line is a method's mean over seeds or, where there is a ``level``, that of one level of this factor. Beside the
    lines stand the last round's 95 % t intervals. Raises DataError where no run has a consensus error.
    """
    index = index[[has_metric(Path(root) / run, METRIC) for run in index["run"]]]
    if index.empty:
        raise DataError(f"no run of the experiment has the metric {METRIC!r}: its clients keep no models of their own")
    look: Callable[[str], dict[str, Any]] = looks.look
    if level is not None:
        index = levels_as_lines(index, level)
        look = looks.of_levels(list(dict.fromkeys(index["method"]))).__getitem__
    errors = collect(index, root, lambda folder: metrics(folder, [METRIC], mean=True))
    table = curves.over_seeds(errors, "round")
    with style.theme():
        figure, panels = curves.draw_panels(errors, index, "round", "round", "consensus error", looks=look)
        for axes, setting in zip(panels, dict.fromkeys(errors["setting"]), strict=True):
            curves.logarithmic(axes, table.loc[table["setting"] == setting, "mean"])
    return figure
