"""Curves of several methods, means over seeds with a 95 % band, one panel per setting."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outagefl.analysis import style
from outagefl.analysis.results import setting
from outagefl.analysis.statistics import t_half_width

FEW = 12  # points that are marked one by one


def over_seeds(values: pd.DataFrame, x: str) -> pd.DataFrame:
    """Mean over seeds with its 95 % t interval: columns setting, method, ``x``, mean, low, high, n (seeds).

    ``values`` has at most one row per setting, method, seed and ``x``, with a column ``value``. One seed has no
    interval: low and high are NaN there.
    """
    table = values.groupby(["setting", "method", x], sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    half = t_half_width(table["std"], table["count"])
    table = table.assign(low=table["mean"] - half, high=table["mean"] + half, n=table["count"])
    return table.drop(columns=["std", "count"]).sort_values(x, kind="stable", ignore_index=True)


def draw_panels(
    values: pd.DataFrame, index: pd.DataFrame, x: str, xlabel: str, ylabel: str
) -> tuple[Figure, list[Axes]]:
    """Draw ``over_seeds(values, x)``, a panel for every setting of the index and a line for every method.

    The axes are made to hold the lines; with few seeds a band can be so wide that it runs out of its panel.
    """
    table = over_seeds(values, x)
    methods, settings = list(dict.fromkeys(index["method"])), list(dict.fromkeys(setting(index)))
    figure, panels = style.panels(settings, xlabel, ylabel)
    for axes, where in zip(panels, settings, strict=True):
        here = table[table["setting"] == where]
        for method in methods:
            curve = here[here["method"] == method]
            marker = "o" if len(curve) <= FEW else ""
            axes.plot(curve[x], curve["mean"], linewidth=1.5, marker=marker, markersize=3.5, **style.look(method))
        limits = axes.get_ylim()
        for method in methods:
            curve, colour = here[here["method"] == method], style.look(method)["color"]
            axes.fill_between(curve[x], curve["low"], curve["high"], color=colour, alpha=0.1, linewidth=0)
        axes.set_ylim(limits)
    style.legend(figure, methods)
    return figure, panels
