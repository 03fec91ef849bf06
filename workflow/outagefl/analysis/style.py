"""One look for every figure: theme, panels, legend, files."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from outagefl.analysis.indexes import SEPARATOR
from outagefl.analysis.looks import label, look
from outagefl.files import replacing

PIXELS_PER_INCH = 160
WIDTH = 8.0  # inches, of a figure with several columns: 1280 pixels
SINGLE = 6.4  # inches, of a figure with one column


@contextmanager
def theme() -> Iterator[None]:
    """The drawing parameters, in force inside the ``with`` block only."""
    settings = sns.axes_style("whitegrid") | sns.plotting_context("notebook", font_scale=0.85)
    fonts = {"font.family": "DejaVu Sans", "pdf.fonttype": 42, "axes.titlesize": 10, "grid.color": "#e4e4e4"}
    with mpl.rc_context(settings | fonts):
        yield


def panels(
    titles: Sequence[str],
    xlabel: str,
    ylabel: str,
    height: float = 2.7,
    sharey: bool = False,
    columns: int | None = None,
    sharex: bool = True,
) -> tuple[Figure, list[Axes]]:
    """A figure with one titled panel per title, at most three a row unless ``columns`` says how many.

    ``height`` is in inches per row of panels. The x axis is common unless ``sharex`` is false; every panel has its own
    y axis unless ``sharey``.
    """
    columns = columns or (len(titles) if len(titles) < 4 else 2 if len(titles) == 4 else 3)
    rows = math.ceil(len(titles) / columns)
    figure = Figure(figsize=(WIDTH if columns > 1 else SINGLE, height * rows + 1.1), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False).flatten()
    for place, axes in enumerate(grid):
        if place >= len(titles):
            axes.remove()
            continue
        axes.set_title(_wrapped(titles[place], 84 // columns))
        axes.tick_params(labelbottom=True)
        if place + columns >= len(titles):
            axes.set_xlabel(xlabel)
        if place % columns == 0:
            axes.set_ylabel(ylabel)
    return figure, list(grid[: len(titles)])


def _wrapped(title: str, width: int) -> str:
    """The title in lines of at most ``width`` characters, broken between the labels of a setting where that does."""
    lines: list[str] = []
    for part in title.split(SEPARATOR):
        if lines and len(lines[-1]) + len(SEPARATOR) + len(part) <= width:
            lines[-1] += SEPARATOR + part
        else:
            lines += textwrap.wrap(part, width)
    return "\n".join(lines)


def legend(
    figure: Figure,
    methods: Sequence[str],
    looks: Callable[[str], Mapping[str, Any]] = look,
    more: Sequence[Line2D] = (),
) -> None:
    """The methods' names and looks and ``more`` in rows below the panels; nothing where there is no method."""
    if not methods:
        return
    handles = [Line2D([], [], linewidth=2, label=label(method), **looks(method)) for method in methods] + [*more]
    columns = min(len(handles), 4)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, handlelength=3)


def save(figure: Figure, pdf: Path | str, png: Path | str, note: str = "") -> None:
    """Write a figure as PDF and PNG, with a note on its data above the panels.

    The same figure gives the same bytes: there are no dates in the files.
    """
    if note:
        lines = textwrap.fill(f"Data: {note}", int(14 * figure.get_figwidth()))
        figure.suptitle(lines, x=0.01, ha="left", fontsize=8, color="#555555")
    with theme(), replacing(pdf) as new:
        figure.savefig(new, format="pdf", metadata={"CreationDate": None})
    with theme(), replacing(png) as new:
        figure.savefig(new, format="png", dpi=PIXELS_PER_INCH)
