"""Figure: the estimated reception rate q̂ of one link over virtual time (Figure 9 of the DFL-AA paper)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.indexes import setting
from outagefl.analysis.records import dotted, read_record
from outagefl.analysis.results import collect, metrics
from outagefl.errors import DataError

RECEIVER = 1  # as in the paper, whose link is 0 → 1; of a node without it the one from its lowest-numbered in-neighbour


def draw(index: pd.DataFrame, root: Path) -> Figure:
    """Draw q̂ of the tracked link, a thin line per seed, around the true rate, dotted; a panel per setting, one y axis.

    In each panel stands the standard deviation over time in the second half of the run, mean over seeds: means of
    several seeds would hide it. Raises DataError for links that do not all lose the same.
    """

    def of_run(folder: Path) -> pd.DataFrame:
        loss = dotted(read_record(folder, "spec"), "links.loss")
        if loss is None:
            raise DataError(f"{folder}: its links differ, so there is no one true reception rate")
        frame = metrics(folder, ["reception_rate"], mean=False)
        return frame[frame["client"] == RECEIVER].assign(true=1 - loss)

    rates = collect(index, root, of_run)
    late = rates[rates["time"] > rates["time"].max() / 2]
    spread = late.groupby(["setting", "method", "seed"])["value"].std().groupby("setting").mean()
    with style.theme():
        settings = list(dict.fromkeys(setting(index)))
        figure, panels = style.panels(settings, "virtual seconds", "estimated reception rate", sharey=True)
        for axes, where in zip(panels, settings, strict=True):
            here = rates[rates["setting"] == where]
            for (method, _), run in here.groupby(["method", "seed"], sort=False):
                axes.plot(run["time"], run["value"], linewidth=0.8, alpha=0.8, color=looks.look(str(method))["color"])
            axes.axhline(here["true"].iloc[0], color="#222222", linewidth=1, linestyle=":")
            if spread.notna()[where]:
                axes.text(0.97, 0.04, f"sd {spread[where]:.4f}", ha="right", transform=axes.transAxes, fontsize=8)
    return figure
