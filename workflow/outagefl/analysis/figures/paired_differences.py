"""Figure: each method's paired difference to the baseline, a dot per seed, with the mean and its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.indexes import setting
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import scores
from outagefl.analysis.statistics import bootstrap_interval


def draw(index: pd.DataFrame, root: Path, *, baseline: str | Sequence[str], tail: float) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root, a panel per setting.

    A pair is two runs of one seed that differ in the method alone; its difference is that of their final accuracies
    (mean over the last ``tail`` of the rounds), in percentage points. The interval is the BCa bootstrap over seeds (too
    narrow below about ten of them); a single seed has none. Of several baselines it is the first. Raises as
    ``pairing.pair``.
    """
    baseline = baseline if isinstance(baseline, str) else baseline[0]
    runs = scores(index, root, tail)
    runs = runs.assign(setting=setting(runs))
    pairs = pair(runs, baseline)
    methods, settings = list(dict.fromkeys(pairs["method"])), list(dict.fromkeys(runs["setting"]))
    with style.theme():
        xlabel = f"difference to {looks.label(baseline)} (points)"
        figure, panels = style.panels(settings, xlabel, "", height=0.8 + 0.26 * len(methods), sharey=True)
        for axes, where in zip(panels, settings, strict=True):
            axes.axvline(0, color="#222222", linewidth=1)
            for place, method in enumerate(methods):
                chosen = (pairs["setting"] == where) & (pairs["method"] == method)
                values = pairs.loc[chosen, "difference"].to_numpy()
                colour = looks.look(method)["color"]
                spread = np.linspace(0.12, 0.36, len(values)) if len(values) > 1 else np.zeros(1)
                axes.scatter(values, place + spread, s=11, color=colour, alpha=0.5, linewidth=0)
                axes.plot(bootstrap_interval(values), (place, place), color=colour, linewidth=2.2)
                axes.plot(values.mean(), place, "|", color=colour, markersize=11, markeredgewidth=2.2)
            axes.set_yticks(range(len(methods)), [looks.label(method) for method in methods])
            if not methods:
                axes.text(0.5, 0.5, "no method beside the baseline", ha="center", transform=axes.transAxes)
            axes.set_ylim(max(len(methods), 1) - 0.5, -0.5)
    return figure
