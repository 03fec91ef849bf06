"""Figure: a method's gain over a baseline at all combinations of two numeric factors, a heat map with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.comparison_table import signed
from outagefl.analysis.indexes import SEPARATOR, setting, symbol
from outagefl.analysis.levels import levels_of
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import scores
from outagefl.analysis.statistics import t_half_width


def draw(
    index: pd.DataFrame, root: Path, *, baseline: str | Sequence[str], tail: float, levels: Sequence[str]
) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root.

    ``levels``: two factors, upright and across. There is a panel per setting of the other factors and method that
    depends on the two; what a method gains that does not stands in the title. Cells hold the mean over seeds of the
    paired difference of final accuracies (mean over the last ``tail`` of the rounds), in percentage points, ± half its
    95 % t interval from three seeds on. Of several baselines it is the first. Raises as ``pairing.pair`` and
    ``levels.levels_of``.
    """
    baseline = baseline if isinstance(baseline, str) else baseline[0]
    rows, columns = (levels_of(index, factor) for factor in levels)
    runs = scores(index, root, tail).assign(setting=setting(index.drop(columns=list(levels))))
    maps: dict[str, pd.DataFrame] = {}
    for where, here in pair(runs, baseline).groupby("setting", sort=False):
        constant = here.groupby("method")["run"].transform("nunique") == here.groupby("method")["seed"].transform(
            "nunique"
        )
        same = here[constant].groupby("method", sort=False)["difference"].mean()
        told = [f"{looks.label(str(method))} {signed(gain, 1)} in all cells" for method, gain in same.items()]
        for method, own in here[~constant].groupby("method", sort=False):
            maps[SEPARATOR.join([str(where), looks.label(str(method)), *told])] = own
    with style.theme():
        names = [symbol(factor) for factor in levels]
        figure, panels = style.panels(list(maps), names[1], names[0], height=0.42 * len(rows) + 0.6)
        tables = [
            own.pivot_table(index=levels[0], columns=levels[1], values="difference", aggfunc=["mean", _half])
            for own in maps.values()
        ]
        reach = max((table["mean"].abs().to_numpy().max() for table in tables), default=1.0) or 1.0
        for axes, table in zip(panels, tables, strict=True):
            mean, half = (table[part].loc[rows, columns].to_numpy() for part in ("mean", "_half"))
            _heat_map(axes, mean, half, reach)
            axes.set_xticks(range(len(columns)), columns)
            axes.set_yticks(range(len(rows)), rows)
        if panels:
            figure.colorbar(panels[0].images[0], ax=panels, label=f"gain over {looks.label(baseline)} (points)")
    return figure


def _half(differences: pd.Series[float]) -> float:
    """Half the 95 % t interval of the mean; NaN below three values, whose interval would say nothing."""
    return float(t_half_width(differences.std(), len(differences))) if len(differences) > 2 else np.nan


def _heat_map(axes: Axes, mean: np.ndarray, half: np.ndarray, reach: float) -> None:
    """Colour and number the cells (rows, columns), the first row at the bottom; colours end at ± ``reach``."""
    axes.imshow(mean, cmap="PuOr_r", vmin=-reach, vmax=reach, origin="lower", aspect="auto")
    axes.grid(visible=False)
    for (row, column), value in np.ndenumerate(mean):
        text = signed(value, 1) + ("" if np.isnan(half[row, column]) else f" ± {half[row, column]:.1f}")
        colour = "white" if abs(value) > 0.7 * reach else "#222222"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
