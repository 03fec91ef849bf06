"""FedAvg over active clients is biased when they are not equally available (FedSWE paper, Example 2 and Fig. 2).

Two clients, available with p₁ and p₂ in every round, have the losses (x − u_i)² / 2, u = (0, 100). The minimiser of
their mean is 50.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory.options import numbers, probability
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.inputs import checks

OPTIMA = np.array([0.0, 100.0])  # u₁ and u₂
MINIMISER = float(OPTIMA.mean())
TOLERANCE = 1e-6  # for what is left of the start where two clients that are always available make an interval a point


def expected_output(p: Array) -> Array:
    """E[x] after many rounds for availabilities p (…, 2), not both 0: the closed form behind Fig. 2."""
    p1, p2 = p[..., 0], p[..., 1]
    u1, u2 = OPTIMA
    one_or_both = p1 * (1 - p2) * u1 + p2 * (1 - p1) * u2 + p1 * p2 * (u1 + u2) / 2
    expected: Array = one_or_both / (p1 + p2 - p1 * p2)
    return expected


def simulate(
    rng: np.random.Generator, p: Array, *, rounds: int, repetitions: int, learning_rate: float, steps: int
) -> Array:
    """The last model of FedAvg from x = 0 for availabilities p (n, 2), (n, repetitions).

    Each round is x ← x − the mean over active clients of x − x_i, with x_i after ``steps`` exact gradient steps.
    """
    x = np.zeros((len(p), repetitions))
    progress = 1 - (1 - learning_rate) ** steps
    for _ in range(rounds):
        active = rng.random((*x.shape, 2)) < p[:, None]
        moves = progress * (x[..., None] - OPTIMA)
        x -= (active * moves).sum(-1) / np.maximum(active.sum(-1), 1)
    return x


def check(
    rng: np.random.Generator,
    *,
    probabilities: Sequence[float],
    rounds: int,
    repetitions: int,
    learning_rate: float,
    steps: int,
) -> Checked:
    """Hold the simulated mean output against the closed form for every pair (p₁, p₂) of ``probabilities``.

    Values: p1, p2, expected, mean, and the ends low, high of 95 % intervals that hold for all pairs at once.
    """
    chosen = numbers("theory.probabilities", probabilities, probability, least=2)
    checks.whole("theory.rounds", rounds, 1)
    checks.whole("theory.repetitions", repetitions, 2)
    probability("theory.learning_rate", learning_rate)
    checks.whole("theory.steps", steps, 1)
    pairs = np.array([(p1, p2) for p1 in chosen for p2 in chosen])
    outputs = simulate(rng, pairs, rounds=rounds, repetitions=repetitions, learning_rate=learning_rate, steps=steps)
    mean, low, high = mean_interval(outputs, len(pairs))
    columns = {"expected": expected_output(pairs), "mean": mean, "low": low, "high": high}
    values = pd.DataFrame({"p1": pairs[:, 0], "p2": pairs[:, 1], **columns})
    return Checked(values, _findings(values))


def _findings(values: pd.DataFrame) -> tuple[Finding, ...]:
    inside = _inside(values, values["expected"])
    farthest = values.iloc[int(np.abs(values["mean"] - values["expected"]).argmax())]
    least, most = values["p1"].min(), values["p1"].max()
    unequal = values[(values["p1"] == least) & (values["p2"] == most)].iloc[0]
    equal = values[values["p1"] == values["p2"]]
    off = equal.iloc[int(np.abs(equal["mean"] - MINIMISER).argmax())]
    return (
        Finding(
            "FedAvg's expected output is [p₁(1−p₂)u₁ + p₂(1−p₁)u₂ + p₁p₂(u₁+u₂)/2] / (p₁+p₂−p₁p₂)",
            "Example 2, Fig. 2",
            farthest["expected"],
            farthest["mean"],
            bool(inside.all()),
            f"the pair farthest off, p = ({farthest['p1']:g}, {farthest['p2']:g}); {inside.sum()} of {len(values)} "
            "intervals, made to hold all at once, contain the formula's value",
            farthest["low"],
            farthest["high"],
        ),
        Finding(
            "Unequal availability biases FedAvg away from the minimiser",
            "Example 2, Fig. 2",
            unequal["expected"],
            unequal["mean"],
            not unequal["low"] <= MINIMISER <= unequal["high"],
            f"p = ({least:g}, {most:g}); the minimiser is {MINIMISER:g}",
            unequal["low"],
            unequal["high"],
        ),
        Finding(
            "Equal availability leaves FedAvg unbiased",
            "Example 2, Fig. 2",
            MINIMISER,
            off["mean"],
            bool(_inside(equal, MINIMISER).all()),
            f"of {len(equal)} pairs with p₁ = p₂ the one farthest off, p = {off['p1']:g}",
            off["low"],
            off["high"],
        ),
    )


def _inside(values: pd.DataFrame, target: pd.Series | float) -> pd.Series:
    return (values["low"] - TOLERANCE <= target) & (target <= values["high"] + TOLERANCE)


def draw(values: pd.DataFrame) -> Figure:
    """E[x] against p₂, a curve per p₁ (the formula) with dots and intervals (the simulation)."""
    with style.theme():
        figure, (axes,) = style.panels([""], "availability of client 2, whose optimum is 100", "expected model E[x]")
        axes.axhline(MINIMISER, color="#222222", linewidth=1, linestyle=":", label="minimiser")
        p2 = np.linspace(values["p2"].min(), values["p2"].max(), 100)
        for place, (p1, curve) in enumerate(values.groupby("p1")):
            colour = looks.OTHER_COLOURS[place % len(looks.OTHER_COLOURS)]
            formula = expected_output(np.stack([np.full_like(p2, p1), p2], axis=-1))
            axes.plot(p2, formula, color=colour, linewidth=1.5, label=f"p₁ = {p1:g}")
            axes.vlines(curve["p2"], curve["low"], curve["high"], color=colour)
            axes.scatter(curve["p2"], curve["mean"], color=colour, s=14, zorder=3)
        figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure
