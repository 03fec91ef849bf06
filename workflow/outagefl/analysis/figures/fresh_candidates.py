"""Figure: how often mixing makes a client that returns from an outage fresher, against a numeric factor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import style
from outagefl.analysis.level_panels import draw_by_level
from outagefl.analysis.results import collect, metrics
from outagefl.rules.gossip_view import ROUNDING


def fresher(folder: Path) -> pd.DataFrame:
    """Of one run: value, the share (%) of returns in which mixing lowers the client's effective lag; empty without any.

    A return is a client's first round online after one or more that it missed. Its lag falls only if one of its
    candidates is fresher than itself; without an online neighbour, or among those as stale as itself, it stays.
    """
    frame = metrics(folder, ["lag", "online"], mean=False)
    tables = {name: own.pivot(index="round", columns="client", values="value") for name, own in frame.groupby("metric")}
    lag, online = (tables[name].to_numpy() for name in ("lag", "online"))
    back = (online[1:] == 1) & (online[:-1] == 0)
    share = 100 * (lag[1:] < lag[:-1] - ROUNDING)[back].mean() if back.any() else np.nan
    return pd.DataFrame({"value": [share]}).dropna()


def draw(index: pd.DataFrame, root: Path, *, level: str) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root, by the factor ``level``.

    Lags are those under the method's own weights; those of ``local``, which never mixes, never fall. Raises as
    ``levels.levels_of``.
    """
    ylabel = "returns that lower the lag (%)"
    with style.theme():
        figure, panels = draw_by_level(index, level, lambda runs: collect(runs, root, fresher), ylabel)
        for axes in panels:
            axes.set_ylim(-3, 103)
    return figure
