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
from outagefl.analysis.indexes import SEPARATOR, factors, setting, symbol
from outagefl.analysis.levels import levels_of
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import scores
from outagefl.analysis.statistics import t_half_width


def draw(
    index: pd.DataFrame, root: Path, *, baseline: str | Sequence[str], tail: float, levels: Sequence[str]
) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root.

    ``levels``: two factors, upright and across. There is a panel per setting of the other factors and method that
    depends on the two; what a method gains that does not stands in the title, unless none does. Cells hold the mean
    over seeds of the paired difference of final accuracies (mean over the last ``tail`` of the rounds), in percentage
    points, ± half its 95 % t interval from three seeds on. Of several baselines it is the first. Raises as
    ``pairing.pair`` and ``levels.levels_of``.
    """
    baseline = baseline if isinstance(baseline, str) else baseline[0]
    rows, columns = (levels_of(index, factor) for factor in levels)
    others = index.drop(columns=list(levels))
    where = setting(others) if factors(others) else ""
    maps = _titled(pair(scores(index, root, tail).assign(setting=where), baseline))
    with style.theme():
        names = [symbol(factor) for factor in levels]
        figure, panels = style.panels(list(maps), names[1], names[0], height=0.42 * len(rows) + 0.6)
        tables = [
            own.pivot_table(
                index=levels[0], columns=levels[1], values="difference", aggfunc=["mean", _half], dropna=False
            )
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


def _titled(pairs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The pairs of each setting and method whose gain is not the same in all cells, by the title of their panel."""
    found = {}
    for where, here in pairs.groupby("setting", sort=False):
        of_method = {str(method): own for method, own in here.groupby("method", sort=False)}
        same = [method for method, own in of_method.items() if _is_constant(own)]
        same = same if len(same) < len(of_method) else []
        told = [f"{looks.label(name)} {signed(of_method[name]['difference'].mean(), 1)} in all cells" for name in same]
        for method in (name for name in of_method if name not in same):
            title = SEPARATOR.join(filter(None, [str(where), looks.label(method), *told]))
            found[title] = of_method[method]
    return found


def _is_constant(pairs: pd.DataFrame) -> bool:
    """Whether each seed's gain is the same in all of several cells."""
    gains = pairs.groupby("seed")["difference"]
    return bool(gains.count().min() > 1 and gains.nunique().max() == 1)


def _half(differences: pd.Series[float]) -> float:
    """Half the 95 % t interval of the mean; NaN below three values, whose interval would say nothing."""
    return float(t_half_width(differences.std(), len(differences))) if len(differences) > 2 else np.nan


def _heat_map(axes: Axes, mean: np.ndarray, half: np.ndarray, reach: float) -> None:
    """Colour and number the cells (rows, columns), the first row at the bottom; colours end at ± ``reach``."""
    axes.imshow(mean, cmap="PuOr_r", vmin=-reach, vmax=reach, origin="lower", aspect="auto")
    axes.grid(visible=False)
    for (row, column), value in np.ndenumerate(mean):
        text = signed(value, 1) + ("" if np.isnan(half[row, column]) else f"\n±{half[row, column]:.1f}")
        colour = "white" if abs(value) > 0.7 * reach else "#222222"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
