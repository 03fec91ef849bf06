"""Figure: how far apart the nodes' models are, over virtual time (Figures 5 and 6 of the DFL-AA paper)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, style
from outagefl.analysis.indexes import setting
from outagefl.analysis.results import collect, metrics


def draw(index: pd.DataFrame, root: Path) -> Figure:
    """Draw (1/n) Σ ‖w_i − w̄‖², the mean over seeds, on a logarithmic axis, a panel per setting.

    Beside the lines stand the last evaluation's 95 % t intervals over seeds.
    """
    distance = collect(index, root, lambda folder: metrics(folder, ["consensus_distance"], mean=True))
    table = curves.over_seeds(distance, "time")
    with style.theme():
        figure, panels = curves.draw_panels(distance, index, "time", "virtual seconds", "consensus distance")
        for axes, where in zip(panels, dict.fromkeys(setting(index)), strict=True):
            curves.logarithmic(axes, table.loc[table["setting"] == where, "mean"])
    return figure
