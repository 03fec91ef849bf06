"""Panels that show something against a numeric factor: one per setting of the other factors, a line per method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outagefl.analysis import curves
from outagefl.analysis.indexes import symbol
from outagefl.analysis.levels import by_level, levels_of


def draw_by_level(
    index: pd.DataFrame, level: str, values_of: Callable[[pd.DataFrame], pd.DataFrame], ylabel: str
) -> tuple[Figure, list[Axes]]:
    """Draw means over seeds with 95 % t intervals over the evenly spaced levels of a factor.

    All panels have the same axes. ``values_of`` takes the runs of one level and returns a row per run: setting, method,
    seed, value. Raises as ``levels.levels_of``.
    """
    names = levels_of(index, level)
    values = pd.concat([values_of(own).assign(level=place) for place, own in by_level(index, level)])
    others = index.drop(columns=level)
    figure, panels = curves.draw_panels(values, others, "level", symbol(level), ylabel, classes=True)
    limits = np.array([axes.get_ylim() for axes in panels])
    for axes in panels:
        axes.set_xticks(range(len(names)), names)
        axes.set_ylim(limits.min(), limits.max())
    return figure, panels
