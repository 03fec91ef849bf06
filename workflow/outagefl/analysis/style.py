"""One look for every figure: theme, panels, legend, and for each method its printed name, colour and dash.

Colours are those of seaborn's colour-blind palette. Where two rules share a colour they share an idea: solid discounts
the client's own model too, dashed only what it received. Controls are dotted or dash-dotted.
"""

from __future__ import annotations

import math
import textwrap
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from outagefl.analysis.results import SEPARATOR
from outagefl.files import replacing

Dash = str | tuple[int, tuple[float, ...]]

METHODS: dict[str, tuple[str, str, Dash]] = {
    "local": ("Local only", "#949494", ":"),
    "dfedavg": ("DFedAvg", "#222222", "-"),
    "metropolis": ("Metropolis", "#ca9161", "-."),
    "aoi_received": ("AoI (received)", "#de8f05", "--"),
    "aoi_inclusive": ("AoI (inclusive)", "#de8f05", "-"),
    "lag_received": ("Lag (received)", "#0173b2", "--"),
    "sfg": ("SFG", "#0173b2", "-"),
    "sfg_cut": ("SFG-Cut", "#d55e00", "-"),
    "limited_merge": ("Limited merge", "#029e73", "-"),
    "freshest": ("Freshest", "#cc78bc", "-"),
    "always_on": ("Always on", "#949494", "-."),
}
# For methods without an entry: colours of Paul Tol's muted scheme and dashes that no entry uses.
OTHER_COLOURS = ("#332288", "#117733", "#44aa99", "#882255", "#aa4499", "#999933", "#cc6677")
OTHER_DASHES: tuple[Dash, ...] = ((0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)))

PIXELS_PER_INCH = 160
WIDTH = 8.0  # inches, of a figure with several columns: 1280 pixels
SINGLE = 6.4  # inches, of a figure with one column


def label(method: str) -> str:
    """The printed name of a method: its own spelling where it has no entry."""
    return METHODS[method][0] if method in METHODS else method.replace("_", " ")


def look(method: str) -> dict[str, Any]:
    """Colour and line style of a method, the same in every figure whatever else is drawn.

    A method without an entry gets them from its name, and may then look like another one without an entry.
    """
    if method in METHODS:
        _, colour, dash = METHODS[method]
    else:
        dashes, colours = divmod(zlib.crc32(method.encode()), len(OTHER_COLOURS))
        colour, dash = OTHER_COLOURS[colours], OTHER_DASHES[dashes % len(OTHER_DASHES)]
    return {"color": colour, "linestyle": dash}


@contextmanager
def theme() -> Iterator[None]:
    """The drawing parameters, in force inside the ``with`` block only."""
    settings = sns.axes_style("whitegrid") | sns.plotting_context("notebook", font_scale=0.85)
    fonts = {"font.family": "DejaVu Sans", "pdf.fonttype": 42, "axes.titlesize": 10, "grid.color": "#e4e4e4"}
    with mpl.rc_context(settings | fonts):
        yield


def panels(
    titles: Sequence[str], xlabel: str, ylabel: str, height: float = 2.7, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure with one titled panel per title, at most three a row; ``height`` in inches per row of panels.

    The x axis is common; every panel has its own y axis unless ``sharey``.
    """
    columns = len(titles) if len(titles) < 4 else 2 if len(titles) == 4 else 3
    rows = math.ceil(len(titles) / columns)
    figure = Figure(figsize=(WIDTH if columns > 1 else SINGLE, height * rows + 1.1), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=sharey, squeeze=False).flatten()
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


def legend(figure: Figure, methods: Sequence[str]) -> None:
    """The methods' names and looks in rows below the panels; nothing where there is no method."""
    if not methods:
        return
    handles = [Line2D([], [], linewidth=2, label=label(method), **look(method)) for method in methods]
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
