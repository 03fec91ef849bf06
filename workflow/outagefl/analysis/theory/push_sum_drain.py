"""Push-sum's weights drain geometrically when chunks are lost (DFL-AA paper, Proposition 2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory.options import numbers, probability
from outagefl.analysis.theory.push_sum import step
from outagefl.analysis.theory.result import Checked, Finding, mean_interval
from outagefl.inputs import checks

ROUNDING = 1e-9


def left(rate: float, degree: int) -> float:
    """The share of the total weight that a round is expected to leave on a regular graph, (1 + q·d) / (1 + d)."""
    return (1 + rate * degree) / (1 + degree)


def check(
    rng: np.random.Generator,
    *,
    nodes: int,
    degree: int,
    rates: Sequence[float],
    rounds: int,
    chunks: int,
    repetitions: int,
) -> Checked:
    """Play synchronous push-sum on a directed regular graph, i → i + 1, …, i + ``degree``, for every reception rate.

    Every message is used up in its round; kept for longer in an inbox it would be counted twice and create weight.
    Values: rate, round (from 0), expected and mean share of the total weight that is left, low, high (95 %).
    """
    chosen = numbers("theory.rates", rates, probability, least=2)
    checks.whole("theory.nodes", nodes, 2)
    checks.whole("theory.degree", degree, 1, nodes - 1)
    checks.whole("theory.rounds", rounds, 1)
    checks.whole("theory.chunks", chunks, 1)
    checks.whole("theory.repetitions", repetitions, 2)
    edges = np.array([(i, (i + hop) % nodes) for i in range(nodes) for hop in range(1, degree + 1)])
    rows = []
    for rate in chosen:
        weights = np.ones((repetitions, nodes))
        for number in range(rounds + 1):
            mean, low, high = map(float, mean_interval(weights.mean(axis=1)))
            rows.append((rate, number, left(rate, degree) ** number, mean, low, high))
            weights = step(weights, edges, rng.binomial(chunks, rate, (repetitions, len(edges))) / chunks)
    values = pd.DataFrame(rows, columns=["rate", "round", "expected", "mean", "low", "high"])
    last = values[values["round"] == rounds]
    return Checked(values, tuple(_drains(row, degree) for row in last.to_dict("records")))


def _drains(row: Mapping[Hashable, Any], degree: int) -> Finding:
    lossless = row["rate"] == 1
    statement = "Without loss the weights sum to n" if lossless else "The weights' sum drains geometrically"
    return Finding(
        f"{statement}: q = {row['rate']:g}",
        "Proposition 2",
        row["expected"],
        row["mean"],
        row["low"] - ROUNDING <= row["expected"] <= row["high"] + ROUNDING,
        f"share left after {row['round']} rounds; expected: ((1 + q·d) / (1 + d))^rounds on a directed graph of degree "
        f"d = {degree}, our reading of the rate",
        row["low"],
        row["high"],
    )


def draw(values: pd.DataFrame) -> Figure:
    """The share of the total weight left, by round: lines expected, dots simulated; a logarithmic axis."""
    with style.theme():
        figure, (axes,) = style.panels([""], "round", "share of the total weight left")
        for place, (rate, curve) in enumerate(values.groupby("rate")):
            colour = looks.OTHER_COLOURS[place % len(looks.OTHER_COLOURS)]
            axes.plot(curve["round"], curve["expected"], color=colour, linewidth=1.3, label=f"q = {rate:g}")
            axes.scatter(curve["round"], curve["mean"], color=colour, s=9, zorder=3)
        axes.set_yscale("log")
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure
