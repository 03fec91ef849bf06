"""Figure: each method's gain over a baseline against a numeric factor, in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.indexes import setting
from outagefl.analysis.level_panels import draw_by_level
from outagefl.analysis.pairing import pair
from outagefl.analysis.results import scores


def draw(index: pd.DataFrame, root: Path, *, baseline: str | Sequence[str], tail: float, level: str) -> Figure:
    """Draw the runs of an index (``indexes.read_index``) that lie below the results root, by the factor ``level``.

    A gain is the difference of the final accuracies (mean over the last ``tail`` of the rounds) of two runs that differ
    in the method alone, in percentage points; intervals are of its mean. Of several baselines it is the first. Raises
    as ``pairing.pair`` and ``levels.levels_of``.
    """
    baseline = baseline if isinstance(baseline, str) else baseline[0]

    def gains(runs: pd.DataFrame) -> pd.DataFrame:
        pairs = pair(scores(runs, root, tail).assign(setting=setting(runs)), baseline)
        return pairs.rename(columns={"difference": "value"})

    with style.theme():
        figure, panels = draw_by_level(index, level, gains, f"gain over {looks.label(baseline)} (points)")
        for axes in panels:
            axes.axhline(0, color="#222222", linewidth=1, zorder=1)
            bottom, top = axes.get_ylim()
            axes.set_ylim(min(bottom, -0.04 * top), max(top, -0.04 * bottom))
    return figure
