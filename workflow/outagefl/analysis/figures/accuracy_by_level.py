"""Figure: final accuracy against a numeric factor (Figures 3, 8, 11 and Tables 8, 9 of the FedSWE paper)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from outagefl.analysis import curves, looks, style
from outagefl.analysis.finals import PARTS, final_accuracies
from outagefl.analysis.indexes import symbol
from outagefl.analysis.levels import by_level, divided, levels_of, panels_of
from outagefl.analysis.published import published_beside

MARK: dict[str, Any] = {"marker": "D", "markersize": 5, "markerfacecolor": "none", "linestyle": ""}


def draw(index: pd.DataFrame, root: Path, *, tail: float, level: str, published: str | None = None) -> Figure:
    """Draw the final accuracy on training and on test images, a panel each per setting, a line per method.

    Points are means over seeds with 95 % t intervals, over the evenly spaced levels of the factor ``level``; published
    values are hollow marks in the method's colour. All panels have the same axes. ``tail`` as in ``results.final``.
    """
    found = []
    for place, own in by_level(index, level):
        found.append(final_accuracies(own, root, tail).assign(level=place))
        found.append(published_beside(own, root, published, list(PARTS)).assign(level=place))
    values = divided(pd.concat(found), "metric")
    accuracy, theirs = values.dropna(subset="value"), values.dropna(subset="published_mean")
    shown = panels_of(accuracy)
    methods = list(dict.fromkeys(shown["method"]))
    shift = dict(zip(methods, curves.SPREAD * (curves.sides_of(methods) - 0.5), strict=True))
    names = levels_of(index, level)
    more = [Line2D([], [], label="published", color="#777777", **MARK)] if len(theirs) else []
    with style.theme():
        labels = symbol(level), "accuracy (%)"
        figure, panels = curves.draw_panels(accuracy, shown, "level", *labels, classes=True, columns=2, more=more)
        limits = np.array([axes.get_ylim() for axes in panels])
        facts = theirs["published_mean"]
        bottom, top = np.fmin(limits.min(), facts.min() - 1), np.fmax(limits.max(), facts.max() + 1)
        for axes, where in zip(panels, dict.fromkeys(shown["panel"]), strict=True):
            for method, own in theirs[theirs["setting"] == where].groupby("method"):
                colour = looks.look(str(method))["color"]
                axes.plot(own["level"] + shift[str(method)], own["published_mean"], color=colour, **MARK)
            axes.set_ylim(bottom, top)
            axes.set_xticks(range(len(names)), names)
    return figure
