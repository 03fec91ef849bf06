"""Figure: accuracy at the ends of the windows of clients that are available by turns (Figures 7, 10 of FedSWE)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, style
from outagefl.analysis.levels import divided, panels_of
from outagefl.analysis.records import dotted, read_record
from outagefl.analysis.results import collect, metrics
from outagefl.errors import DataError

OPTIONS = ("window", "groups")


def draw(index: pd.DataFrame, root: Path, *, score: str) -> Figure:
    """Draw the accuracy over the rounds, a panel for each group of clients whose window ends with these rounds.

    Groups take turns, each for a window of rounds: what is measured at one phase only shows one group's side. The
    panels of a setting share their axes. Raises DataError for runs whose availability has no windows, or that were not
    evaluated at the ends of every group's.
    """

    def of_run(folder: Path) -> pd.DataFrame:
        spec = read_record(folder, "spec")
        window, groups = (dotted(spec, f"availability.probability.{name}") for name in OPTIONS)
        if window is None or groups is None:
            raise DataError(f"{folder}: its clients are not available by turns, so there are no ends of windows")
        frame = metrics(folder, ["accuracy"], mean=True)
        ends = frame[frame["round"] % window == 0]
        group = (ends["round"] // window - 1) % groups + 1
        if group.nunique() < groups:
            raise DataError(f"{folder}: not evaluated at the end of every group's window, of {window} rounds")
        return pd.DataFrame(ends.assign(end="after a window of group " + group.astype(str), groups=groups))

    accuracy = divided(collect(index, root, of_run), "end")
    shown, groups = panels_of(accuracy), int(accuracy["groups"].max())
    with style.theme():
        figure, panels = curves.draw_panels(accuracy, shown, "round", "round", f"{score} (%)", columns=groups)
        for first in range(0, len(panels), groups):
            limits = [axes.get_ylim() for axes in panels[first : first + groups]]
            for axes in panels[first : first + groups]:
                axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    return figure
