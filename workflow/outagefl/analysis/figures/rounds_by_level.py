"""Figure: how many rounds until a target accuracy, against a numeric factor (Figures 9, 12 of the FedSWE paper)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, looks, style
from outagefl.analysis.first_round import first_round, mean_accuracy
from outagefl.analysis.indexes import symbol
from outagefl.analysis.levels import by_level, levels_of

CROSSES = 0.2  # the part of the way to the next level over which the methods' crosses stand side by side


def draw(index: pd.DataFrame, root: Path, *, level: str, target: float) -> Figure:
    """Draw the first evaluated round in which the test accuracy, mean over seeds, is at least ``target`` %.

    A panel per setting, a line per method over the evenly spaced levels of the factor ``level``. Where the target is
    never reached a cross stands at the top.
    """
    rows = []
    for place, own in by_level(index, level):
        for (where, method), curve in mean_accuracy(own, root).groupby(["setting", "method"], sort=False):
            reached = first_round(curve["round"].to_numpy(), curve["value"].to_numpy(), target)
            last = curve["round"].max()
            rows.append({"setting": where, "method": method, "level": place, "round": reached, "last": last})
    found = pd.DataFrame(rows)
    methods, names = list(dict.fromkeys(index["method"])), levels_of(index, level)
    settings = list(dict.fromkeys(found["setting"]))
    with style.theme():
        figure, panels = style.panels(settings, symbol(level), f"rounds until {target:g} % test accuracy")
        for axes, where in zip(panels, settings, strict=True):
            here = found[found["setting"] == where]
            top = 1.1 * here["round"].replace(np.inf, np.nan).max()
            top = here["last"].max() if np.isnan(top) else top
            for side, method in zip(curves.sides_of(methods), methods, strict=True):
                line, look = here[here["method"] == method], looks.look(method)
                axes.plot(line["level"], line["round"].replace(np.inf, np.nan), marker="o", markersize=4, **look)
                never = line[np.isinf(line["round"])]
                axes.scatter(
                    never["level"] + CROSSES * (side - 0.5),
                    [top] * len(never),
                    marker="x",
                    color=look["color"],
                    zorder=3,
                )
            if np.isinf(here["round"]).any():
                axes.text(0.99, 1.05 * top, "never", ha="right", va="bottom", transform=axes.get_yaxis_transform())
            axes.set_ylim(0, 1.25 * top)
            axes.set_xticks(range(len(names)), names)
        style.legend(figure, methods)
    return figure
