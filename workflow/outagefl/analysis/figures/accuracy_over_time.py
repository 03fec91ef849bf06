"""Figure: accuracy over virtual time, one panel per setting (Figures 4, 6, 7 and 8 of the DFL-AA paper)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from outagefl.analysis import looks, style
from outagefl.analysis.curves import draw_panels
from outagefl.analysis.indexes import setting
from outagefl.analysis.published_curves import curves_beside
from outagefl.analysis.results import collect, metrics

THIN: dict[str, Any] = {"linewidth": 0.7, "marker": "o", "markersize": 3.2, "markerfacecolor": "white", "zorder": 1.9}


def draw(index: pd.DataFrame, root: Path, *, score: str, curves: str | None = None) -> Figure:
    """Draw the mean over nodes and seeds, with the last evaluation's 95 % t interval over seeds beside the lines.

    ``score`` says what the study's accuracy is. ``curves``: a table of published curves; those of a run's setting are
    thin with hollow dots, in the method's colour, as far as our own go.
    """
    accuracy = collect(index, root, lambda folder: metrics(folder, ["accuracy"], mean=True))
    theirs = curves_beside(index, root, curves)
    theirs = theirs[theirs["time"] <= accuracy["time"].max()]
    more = [Line2D([], [], label="published", color="#777777", **THIN)] if len(theirs) else []
    with style.theme():
        figure, panels = draw_panels(accuracy, index, "time", "virtual seconds", f"{score} (%)", more=more)
        for axes, where in zip(panels, dict.fromkeys(setting(index)), strict=True):
            here = theirs[theirs["setting"] == where]
            bottom, top = axes.get_ylim()
            for method, curve in here.groupby("method", sort=False):
                axes.plot(curve["time"], curve["accuracy"], color=looks.look(str(method))["color"], **THIN)
            if len(here):
                axes.set_ylim(min(bottom, here["accuracy"].min() - 1), max(top, here["accuracy"].max() + 1))
    return figure
