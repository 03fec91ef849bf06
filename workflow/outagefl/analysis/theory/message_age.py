"""How old messages are at three levels of staleness (DFL-AA paper, VI, Tables V and VI): no training, clocks alone.

All of a node's activations are at multiples of its interval, so by the global clock a message's age is that of its
sender's last activation. At a moment that is a multiple of the intervals nearly all messages are at their oldest. Such
a one is the end of the released code's runs, after the first event at the horizon.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory.options import numbers
from outagefl.analysis.theory.result import LEVEL, Array, Checked, Finding
from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.speeds import classes
from outagefl.inputs.topology import directed_erdos_renyi

ROUNDING = 1e-9


def ages(intervals: Array, time: float) -> Array:
    """Seconds since the last activation of nodes with these intervals, (n,), after the first event not before ``time``.

    That event is at ``time`` if any node is due then, and the lowest-numbered one's. If none is, it is still to come.
    """
    before: Array = np.ceil(time / intervals - ROUNDING) - 1
    ages = time - before * intervals
    due = np.flatnonzero(np.abs(ages - intervals) < ROUNDING)
    ages[due[:1]] = 0
    return ages


def check(
    rng: np.random.Generator,
    *,
    nodes: int,
    degree: float,
    cycle: bool,
    levels: Sequence[Sequence[float]],
    published: Sequence[float],
    time: float,
    graphs: int,
) -> Checked:
    """Hold the ``published`` mean age of each of the ``levels`` against those of random graphs and shuffled speeds.

    A published mean, which is that of one graph, holds if it lies among the middle 95 % of the graphs.

    Values: level (from 0), intervals, published, graph (from 0), mean age over its links at ``time`` (seconds) and over
    all of the time (a sender's interval is on average half over).
    """
    checks.whole("theory.nodes", nodes, 2)
    checks.positive("theory.time", time)
    checks.whole("theory.graphs", graphs, 2)
    if not isinstance(levels, list | tuple) or not isinstance(published, list | tuple) or len(levels) != len(published):
        raise InputError(f"theory.published: {published!r} is not a list of one mean age for each of {levels!r}")
    for intervals in levels:
        numbers("theory.levels", intervals, checks.positive)
        if max(intervals) >= time:
            raise InputError(f"theory.time: {time!r} is not beyond every interval of {intervals!r}")
    rows = []
    for number in range(graphs):
        senders = directed_erdos_renyi.edges(nodes, rng, degree=degree, cycle=cycle)[:, 0]
        for level, (intervals, mean_age) in enumerate(zip(levels, published, strict=True)):
            own = classes.seconds(nodes, rng, intervals=intervals)
            told = " / ".join(f"{interval:g}" for interval in intervals)
            rows.append((level, told, mean_age, number, ages(own, time)[senders].mean(), own[senders].mean() / 2))
    values = pd.DataFrame(rows, columns=["level", "intervals", "published", "graph", "at_time", "over_time"])
    return Checked(values, tuple(_finding(own, time) for _, own in values.groupby("level")))


def _finding(own: pd.DataFrame, time: float) -> Finding:
    published, found = float(own["published"].iloc[0]), own["at_time"]
    low, high = found.quantile((1 - LEVEL) / 2), found.quantile((1 + LEVEL) / 2)
    return Finding(
        f"Nodes due every {own['intervals'].iloc[0]} s have messages of a mean age of {published:g} s",
        "Tables V and VI",
        published,
        float(found.mean()),
        bool(low <= published <= high),
        f"mean over links after the first event at t = {time:g} s over {len(own)} graphs with shuffled speeds (low and "
        f"high: the middle 95 % of the graphs); in {100 * (found <= published).mean():.0f} % of them it is at most the "
        f"paper's; over time the mean is {own['over_time'].mean():.2f} s: then nearly all messages are at their oldest",
        float(low),
        float(high),
    )


def draw(values: pd.DataFrame) -> Figure:
    """Histograms over graphs of the mean age at the moment, one panel per level, and the paper's value."""
    with style.theme():
        panels = list(values.groupby("level"))
        titles = [f"due every {own['intervals'].iloc[0]} s" for _, own in panels]
        figure, all_axes = style.panels(titles, "mean age of messages (s)", "graphs", sharex=False)
        for axes, (_, own) in zip(all_axes, panels, strict=True):
            axes.hist(own["at_time"], bins=15, color=looks.OTHER_COLOURS[0], label="at the paper's moment")
            axes.axvline(own["over_time"].mean(), color="#222222", linestyle=":", linewidth=1.3, label="mean over time")
            axes.axvline(own["published"].iloc[0], color=looks.OTHER_COLOURS[1], linewidth=1.6, label="paper")
        figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure
