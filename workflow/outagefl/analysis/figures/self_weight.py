"""Figure: the weight a returning client gives its own stale model, against the length of the outage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import curves, style
from outagefl.analysis.indexes import setting
from outagefl.analysis.results import collect, has_metric, metrics

OF_ONLINE = ("self_weight", "neighbours")
FEWEST = 10  # our choice: fewer returns than this, over all seeds, make no point


def returns(folder: Path) -> pd.DataFrame:
    """Of one run, by class of outage: value (mean weight given to oneself on return) and returns (their number).

    Only returns to at least one online neighbour count: without any, the weight is 1 under every rule. Classes double
    (our choice), since long outages are rare: class k holds outages of 2^(k−1) + 1 … 2^k missed rounds.
    """
    measured = [name for name in OF_ONLINE if has_metric(folder, name)]  # none where nobody is ever online
    frame = metrics(folder, ["age", *measured], mean=False)
    # Only online clients have a self weight, so what is left with an age of 1 or more is a return.
    both = frame.pivot(index=["round", "client"], columns="metric", values="value")
    both = both.reindex(columns=["age", *OF_ONLINE]).dropna()
    back = both[(both["age"] >= 1) & (both["neighbours"] >= 1)]
    outage = np.ceil(np.log2(back["age"])).astype(int).rename("outage")
    weights = back.groupby(outage)["self_weight"]
    return pd.DataFrame({"value": weights.mean(), "returns": weights.count()}).reset_index()


def draw(index: pd.DataFrame, root: Path) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root.

    A point is the mean over seeds of each seed's mean over its returns; the line through it its 95 % t interval over
    seeds. A point needs ``FEWEST`` returns, and one of every seed: a curve must not change because its seeds do.
    """
    weights = collect(index, root, returns)
    found = weights.groupby(["setting", "method", "outage"])["returns"]
    enough = (found.transform("sum") >= FEWEST) & (found.transform("count") == index["seed"].nunique())
    weights = weights[enough]
    classes = range(int(weights["outage"].max()) + 1 if len(weights) else 1)
    with style.theme():
        xlabel, ylabel = "outage (rounds missed)", "weight of the own model"
        figure, panels = curves.draw_panels(weights, index, "outage", xlabel, ylabel, classes=True)
        for axes, where in zip(panels, dict.fromkeys(setting(index)), strict=True):
            axes.set_ylim(0, 1.03)
            axes.set_xticks(classes, [_name(k) for k in classes], rotation=45)
            if not (weights["setting"] == where).any():
                runs = index.loc[setting(index) == where, "run"]
                anyone = any(has_metric(root / run, "self_weight") for run in runs)
                why = "too few returns" if anyone else "nobody online"
                axes.text(0.5, 0.5, why, ha="center", transform=axes.transAxes)
    return figure


def _name(k: int) -> str:
    """The outages of class k in words: 1, 2, 3–4, 5–8 and so on."""
    first, last = 2**k // 2 + 1, 2**k
    return f"{first}–{last}" if first < last else str(last)
