"""Curves of several methods, means over seeds with 95 % intervals, one panel per setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from outagefl.analysis import style
from outagefl.analysis.indexes import setting
from outagefl.analysis.looks import look
from outagefl.analysis.statistics import t_half_width

FEW = 12  # points that are marked one by one
SPREAD = 0.7  # the part of a class over which methods stand side by side
LAYERS = {"-": 2.0, ":": 2.2}  # broken lines lie over whole ones, so that both are seen where methods agree


def over_seeds(values: pd.DataFrame, x: str) -> pd.DataFrame:
    """Mean over seeds with its 95 % t interval: columns setting, method, ``x``, mean, low, high, n (seeds).

    ``values`` has at most one row per setting, method, seed and ``x``, with a column ``value``. One seed has no
    interval, and that of two, twelve standard errors to either side, would leave every panel: low and high are NaN.
    """
    table = values.groupby(["setting", "method", x], sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    half = pd.Series(t_half_width(table["std"], table["count"])).where(table["count"] > 2)
    table = table.assign(low=table["mean"] - half, high=table["mean"] + half, n=table["count"])
    return table.drop(columns=["std", "count"]).sort_values(x, kind="stable", ignore_index=True)


def sides_of(methods: Sequence[str]) -> np.ndarray:
    """Where side by side the methods stand, from 0 (left) to 1."""
    sides: np.ndarray = (np.arange(len(methods)) + 0.5) / max(len(methods), 1)
    return sides


def draw_panels(
    values: pd.DataFrame,
    index: pd.DataFrame,
    x: str,
    xlabel: str,
    ylabel: str,
    classes: bool = False,
    columns: int | None = None,
    looks: Callable[[str], Mapping[str, Any]] = look,
    more: Sequence[Line2D] = (),
) -> tuple[Figure, list[Axes]]:
    """Draw ``over_seeds(values, x)``, a panel for every setting of the index and a line for every method with values.

    Intervals are thin upright lines, side by side: of many methods' bands none could be told apart. Where ``x`` numbers
    ``classes`` (0, 1, …) every point has one; else only a curve's last point has, drawn to the right of the curves.
    The axes are made to hold the curves; with few seeds an interval can be so wide that it runs out of its panel.
    ``columns`` of panels; ``looks`` of the methods; ``more`` entries of the legend.
    """
    table = over_seeds(values, x)
    methods = [method for method in dict.fromkeys(index["method"]) if method in set(values["method"])]
    settings = list(dict.fromkeys(setting(index)))
    sides = sides_of(methods)
    figure, panels = style.panels(settings, xlabel, ylabel, columns=columns)
    for axes, where in zip(panels, settings, strict=True):
        here = table[table["setting"] == where]
        for side, method in zip(sides, methods, strict=True):
            curve, look = here[here["method"] == method], looks(method)
            points = curve[x] + SPREAD * (side - 0.5) if classes else curve[x]
            marker = "o" if len(curve) <= FEW else ""
            layer = LAYERS.get(look["linestyle"], 2.1)
            axes.plot(points, curve["mean"], linewidth=1.5, marker=marker, markersize=3.5, zorder=layer, **look)
        limits, last = axes.get_ylim(), table[x].max()
        if not classes:
            axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= last])
        for side, method in zip(sides, methods, strict=True):
            curve, look = here[here["method"] == method], looks(method)
            points = curve[x] + SPREAD * (side - 0.5)
            if not classes:
                curve = curve.tail(1)
                points = curve[x] + last * (0.03 + 0.15 * side)
                axes.scatter(points, curve["mean"], s=12, color=look["color"])
            axes.vlines(points, curve["low"], curve["high"], look["color"], look["linestyle"], linewidth=1.5)
        axes.set_ylim(limits)
    style.legend(figure, methods, looks, more)
    return figure, panels


def logarithmic(axes: Axes, means: pd.Series[float]) -> None:
    """Make the y axis logarithmic, wide enough for the ``means`` that are above 0."""
    axes.set_yscale("log")
    positive = means[means > 0]
    if len(positive):
        axes.set_ylim(0.7 * positive.min(), 1.4 * positive.max())
