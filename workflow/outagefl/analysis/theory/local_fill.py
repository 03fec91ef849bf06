"""Local fill scales what a receiver takes of a sender by the link's reception rate (DFL-AA paper, Proposition 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from outagefl.analysis import looks, style
from outagefl.analysis.theory.options import numbers, probability
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.inputs import checks
from outagefl.inputs.channel import bernoulli, gilbert_elliott
from outagefl.rules.local_fill import fill

Channel = Callable[[int, float, np.random.Generator], NDArray[np.bool_]]

TOLERANCE = 1e-6  # float32 rounding where nothing is lost and an interval is a point
IN_TIME, BURSTS, EARLY = "Bernoulli", "bursts", "filled early"


def coefficients(
    rng: np.random.Generator,
    channel: Channel,
    rate: float,
    *,
    chunks: int,
    chunk: int,
    moved: float,
    repetitions: int,
) -> Array:
    """How much of w_j − w_i is in ŵ_j − w_i, by projection on the former, (repetitions,).

    The receiver fills the message when it has come, then goes ``moved`` of the way to w_j, and is w_i.
    """
    then, sender = (torch.from_numpy(row) for row in rng.normal(size=(2, chunks * chunk)))
    now = then + moved * (sender - then)
    direction = sender - now
    filled = (fill(then, sender, channel(chunks, 1 - rate, rng), chunk) for _ in range(repetitions))
    return np.array([float((row - now) @ direction / (direction @ direction)) for row in filled])


def check(
    rng: np.random.Generator,
    *,
    rates: Sequence[float],
    chunks: int,
    chunk: int,
    mean_burst: float,
    moved: float,
    repetitions: int,
) -> Checked:
    """The coefficient of w_j − w_i for every reception rate, as the paper has it and in two variants.

    Values: case (Bernoulli losses; ``bursts`` of ``mean_burst`` chunks; ``filled early``, the receiver having ``moved``
    since, as with the released code), rate, expected (what the case gives in theory), mean, and the ends low, high of
    95 % intervals that hold for all rates of a case at once.
    """
    chosen = numbers("theory.rates", rates, probability, least=2)
    checks.whole("theory.chunks", chunks, 1)
    checks.whole("theory.chunk", chunk, 1)
    checks.number("theory.moved", moved, 0, 0.9)
    checks.whole("theory.repetitions", repetitions, 2)
    bursty = partial(gilbert_elliott.received, mean_burst=mean_burst)
    cases: dict[str, tuple[Channel, float]] = {
        IN_TIME: (bernoulli.received, 0.0),
        BURSTS: (bursty, 0.0),
        EARLY: (bernoulli.received, moved),
    }
    rows = []
    for name, (channel, gone) in cases.items():
        for rate in chosen:
            found = coefficients(rng, channel, rate, chunks=chunks, chunk=chunk, moved=gone, repetitions=repetitions)
            mean, low, high = map(float, mean_interval(found, len(chosen)))
            rows.append((name, rate, rate - (1 - rate) * gone / (1 - gone), mean, low, high))
    values = pd.DataFrame(rows, columns=["case", "rate", "expected", "mean", "low", "high"])
    return Checked(values, tuple(_finding(values[values["case"] == name], moved) for name in cases))


def _finding(values: pd.DataFrame, moved: float) -> Finding:
    statement = {
        IN_TIME: "E[ŵ_j − w_i] = q (w_j − w_i)",
        BURSTS: "The same with losses in bursts of the same rate",
        EARLY: "The same when missing chunks were filled on reception, as in the released code",
    }
    case = str(values["case"].iloc[0])
    inside = (values["low"] - TOLERANCE <= values["rate"]) & (values["rate"] <= values["high"] + TOLERANCE)
    worst = values.iloc[int((values["mean"] - values["rate"]).abs().argmax())]
    note = f"the rate farthest off, q = {worst['rate']:g}; {inside.sum()} of {len(values)} intervals contain q"
    if case == EARLY:
        note += (
            f"; the receiver has since gone {moved:g} of the way to w_j, which leaves q − (1 − q)·{moved:g}/"
            f"{1 - moved:g} = {worst['expected']:.3g}: its chunks of then pull it back"
        )
    return Finding(
        statement[case],
        "Proposition 1",
        worst["rate"],
        worst["mean"],
        bool(inside.all()),
        note,
        worst["low"],
        worst["high"],
    )


def draw(values: pd.DataFrame) -> Figure:
    """The coefficient against the reception rate, dots with intervals, a curve of what is expected per case."""
    with style.theme():
        figure, (axes,) = style.panels([""], "reception rate q", "coefficient of w_j − w_i")
        for place, (name, curve) in enumerate(values.groupby("case", sort=False)):
            colour = looks.OTHER_COLOURS[place]
            axes.plot(curve["rate"], curve["expected"], color=colour, linewidth=1.3, linestyle=("-", "--", ":")[place])
            axes.vlines(curve["rate"], curve["low"], curve["high"], color=colour)
            axes.scatter(curve["rate"], curve["mean"], color=colour, s=18 - 5 * place, zorder=3, label=str(name))
        figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
