"""Figure: all claims at a glance, what is published beside ours, coloured by verdict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from outagefl.analysis import style
from outagefl.analysis.claims_table import SIGNS, name, number
from outagefl.analysis.verdicts import (
    DIRECTION_ONLY,
    EFFECT,
    FINDING,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNRESOLVED,
    WINS,
)
from outagefl.runs.claims import RATIO

LOOKS: dict[str, dict[str, Any]] = {  # Okabe and Ito's colours; the shapes say the same
    REPRODUCED: {"color": "#0072b2", "marker": "o"},
    DIRECTION_ONLY: {"color": "#56b4e9", "marker": "^"},
    NOT_REPRODUCED: {"color": "#d55e00", "marker": "X"},
    UNRESOLVED: {"color": "#8c8c8c", "marker": "o", "markerfacecolor": "white"},
}
PUBLISHED: dict[str, Any] = {"color": "#111111", "marker": "D", "markersize": 5, "markerfacecolor": "none"}
ROW, PANEL, COLUMN = 0.18, 0.75, 4.9  # inches: a claim's height, what a panel adds to it, a study's width


def draw(evaluated: pd.DataFrame) -> Figure:
    """Draw ``claims.evaluate``'s tested claims: a column per study, a panel per unit, statements of theory last.

    Thick lines are 95 % intervals, those that leave the panel end in an arrow; diamonds are published values.
    """
    studies = [(str(study), own) for study, own in evaluated.groupby("study", sort=False)]
    columns = [(study, own, _panels(own[own["verdict"] != NOT_RUN])) for study, own in studies]
    height = max(1.0, *(sum(PANEL + ROW * (len(rows) + 0.5) for rows in panels.values()) for _, _, panels in columns))
    with style.theme():
        figure = Figure(figsize=(COLUMN * max(len(columns), 1.6), height + 1.6), layout="constrained")
        parts = figure.subfigures(1, len(columns), squeeze=False)[0]
        for part, (study, own, panels) in zip(parts, columns, strict=True):
            tested, every = (each["id"].nunique() for each in (own[own["verdict"] != NOT_RUN], own))
            part.suptitle(f"{study}: {tested} of {every} claims tested", fontsize=11, weight="bold")
            _draw_study(part, panels, height)
        _legend(figure, evaluated)
    return figure


def _panels(tested: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Title → the claims of a panel."""
    theory = tested["says"] == FINDING
    units = tested["unit"].where(tested["says"] != WINS, "% of pairs")
    found = {str(unit): own for unit, own in tested[~theory].groupby(units, sort=False)}
    return found | ({"theory: computed (and published)": tested[theory]} if theory.any() else {})


def _draw_study(part: SubFigure, panels: dict[str, pd.DataFrame], height: float) -> None:
    sizes = [ROW * (len(rows) + 0.5) for rows in panels.values()]
    rest = max(height - sum(sizes) - PANEL * len(panels), 0.01)
    grid = part.subplots(len(panels) + 1, 1, squeeze=False, height_ratios=[*sizes, rest]).flatten()
    grid[-1].set_axis_off()
    for axes, (title, rows) in zip(grid[:-1], panels.items(), strict=True):
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_yticks(range(len(rows)), [_label(row) for row in rows.to_dict("records")], fontsize=7.5)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="x", labelsize=7.5)
        (_draw_theory if title.startswith("theory") else _draw_values)(axes, rows)


def _draw_values(axes: Axes, rows: pd.DataFrame) -> None:
    null = _null(rows)
    left, right = _limits(rows, null)
    if rows["unit"].iloc[0] == RATIO and right > 2 * left:  # else there would be no ticks
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(left, right)
    for value in null:
        axes.axvline(value, color="#555555", linewidth=0.9, linestyle=":")
    for y, row in enumerate(rows.to_dict("records")):
        looks = LOOKS[row["verdict"]]
        ends = np.clip([row["low"], row["high"]], left, right)
        axes.plot(ends, [y, y], color=looks["color"], linewidth=2.6, alpha=0.55, solid_capstyle="butt")
        for end, cut, arrow in ((left, row["low"] < left, "<"), (right, row["high"] > right, ">")):
            if cut:
                axes.plot(end, y, marker=arrow, color=looks["color"], markersize=5, clip_on=False)
        axes.plot(row["ours"], y, linestyle="", markersize=6, **looks)
        axes.plot(row["published"], y, linestyle="", **PUBLISHED)


def _draw_theory(axes: Axes, rows: pd.DataFrame) -> None:
    axes.set_xlim(0, 1)
    axes.grid(visible=False)
    axes.set_xticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    for y, row in enumerate(rows.to_dict("records")):
        axes.plot(0.04, y, linestyle="", markersize=6, **LOOKS[row["verdict"]])
        theirs = "" if pd.isna(row["published"]) else f"  ({number(row['published'])})"
        axes.text(0.09, y, f"{number(row['ours'])}{theirs}  {row['unit']}", va="center", fontsize=7.5)


def _null(rows: pd.DataFrame) -> list[float]:
    """What no effect would be, where claims of a panel are about effects."""
    if (rows["says"] == WINS).all():
        return [50.0]
    return [1.0 if rows["unit"].iloc[0] == RATIO else 0.0] if (rows["says"] == EFFECT).any() else []


def _limits(rows: pd.DataFrame, null: list[float]) -> tuple[float, float]:
    """The ends of the axis: room for all values and, where they are not far out, for the intervals' ends."""
    values = pd.concat([rows["ours"], rows["published"], pd.Series(null, dtype=float)]).dropna().to_numpy(float)
    if ratio := rows["unit"].iloc[0] == RATIO:
        values = np.log(values)
    low, high = values.min(), values.max()
    pad = 2 * (high - low or 1)
    ends = rows[["low", "high"]].to_numpy(float)
    ends = np.log(ends) if ratio else ends
    left = max(low - pad, np.nanmin([*ends[:, 0], low])) - 0.08 * pad
    right = min(high + pad, np.nanmax([*ends[:, 1], high])) + 0.08 * pad
    return (math.exp(left), math.exp(right)) if ratio else (left, right)


def _label(row: dict[Any, Any]) -> str:
    """A claim's name with what is said of the published value."""
    return " ".join([name(row), *([SIGNS[row["says"]]] if row["says"] in SIGNS else [])])


def _legend(figure: Figure, evaluated: pd.DataFrame) -> None:
    counts = evaluated["verdict"].value_counts()
    handles = [
        Line2D([], [], linestyle="", markersize=7, label=f"{verdict} ({counts.get(verdict, 0)})", **looks)
        for verdict, looks in LOOKS.items()
    ]
    handles.append(Line2D([], [], linestyle="", label="published", **PUBLISHED))
    told = f"scale {evaluated['scale'].iloc[0]}; {NOT_RUN}: {counts.get(NOT_RUN, 0)}"
    figure.legend(handles=handles, title=told, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
