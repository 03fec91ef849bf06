"""Figure: effective lag over the rounds, mean over all clients, one panel per setting."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, style
from outagefl.analysis.results import collect, metrics


def draw(index: pd.DataFrame, root: Path) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root.

    The lag of a client is how many rounds of collaborative progress its model misses, after the round's mixing and
    under the method's own weights. Beside the curves stands the last round's 95 % t interval over seeds; a single
    seed has none. Lags of ``local``, which never mixes, just count the missed rounds: beside other methods they may
    leave the panel.
    """
    lag = collect(index, root, lambda folder: metrics(folder, ["lag"], mean=True))
    mixing = lag[lag["method"] != "local"]
    tops = curves.over_seeds(mixing if len(mixing) else lag, "round").groupby("setting")["mean"].max()
    with style.theme():
        figure, panels = curves.draw_panels(lag, index, "round", "round", "mean effective lag (rounds)")
        for axes, setting in zip(panels, dict.fromkeys(lag["setting"]), strict=True):
            axes.set_ylim(-0.02 * tops[setting], 1.2 * tops[setting] or 1)
    return figure
