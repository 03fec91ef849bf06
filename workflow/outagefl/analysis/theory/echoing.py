"""Echoes make up for missed rounds, and absences have bounded moments (FedSWE paper, Proposition 4 and Lemma 7)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from outagefl.analysis import looks, style
from outagefl.analysis.theory.algorithm import durations
from outagefl.analysis.theory.options import probability as check_probability
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.inputs import checks
from outagefl.inputs.probability import interleaved, periodic, sine, staircase, stationary

FLOOR = 0.1  # below, an interleaved client counts as unavailable (released code)
ROUNDING = 1e-9


def dynamics(rounds: int, probability: float, gamma: float, period: int, window: int) -> dict[str, tuple[Array, int]]:
    """The availability dynamics of Section 7, by name: p^t (rounds,) and the length P of a window of Assumption 1.

    They are those of the runs, of a client with this base probability; in the periodic one two groups share ``window``.
    """
    base = np.full(2, probability)
    found = {
        "always": (np.ones((rounds, 2)), 1),
        "stationary": (stationary.matrix(rounds, base=base), 1),
        "staircase": (staircase.matrix(rounds, base=base, period=period), period),
        "sine": (sine.matrix(rounds, base=base, gamma=gamma, period=period), period),
        "interleaved": (
            interleaved.matrix(rounds, base=base, gamma=gamma, period=period, threshold=FLOOR),
            period,
        ),
        "periodic": (periodic.matrix(rounds, base=base, groups=2, window=window // 2, within="stationary"), window),
    }
    return {name: (matrix[:, 0], length) for name, (matrix, length) in found.items()}


def moments(p: Array) -> Array:
    """The exact first and second moments of t − τ(t), (2, rounds): with p^t it is 1 again, else one more."""
    first = second = 1.0
    found = []
    for chance in p:
        found.append((first, second))
        first, second = 1 + (1 - chance) * first, 1 + (1 - chance) * (2 * first + second)
    return np.array(found).T


def bounds(length: int, delta: float) -> tuple[float, float]:
    """(15) and (16) for P_δ = ``length`` and δ."""
    spread = ((length - 1) * delta + 1) ** 2 + (length - 1) * delta**2 + 1
    return length + 1 / delta, spread / delta**2


def unequal_echoes(available: NDArray[np.bool_]) -> int:
    """Entries of ``available`` (rounds, clients) at which the echoes so far do not sum to the rounds so far."""
    total = np.cumsum(np.where(available, durations(available), 0), axis=0)
    so_far = np.arange(1, len(available) + 1)[:, None]
    return int((available & (total != so_far)).sum())


def check(
    rng: np.random.Generator,
    *,
    rounds: int,
    repetitions: int,
    probability: float,
    gamma: float,
    period: int,
    window: int,
) -> Checked:
    """Simulate a client ``repetitions`` times under every dynamics and look at its durations t − τ(t).

    ``probability``: of the stationary client; ``gamma`` and ``period`` of the sine; ``window`` of the periodic one.
    Values: dynamics, moment (1 or 2), window (P_δ), delta (δ), round (the one with the largest exact moment), exact,
    mean with the ends low, high of its 95 % interval, and bound.
    """
    checks.whole("theory.period", period, 1)
    checks.whole("theory.window", window, 2)
    checks.whole("theory.rounds", rounds, max(period, window))
    checks.whole("theory.repetitions", repetitions, 2)
    check_probability("theory.probability", probability)
    checks.number("theory.gamma", gamma, 0, 0.5)
    rows, unequal, entries = [], 0, 0
    for name, (p, length) in dynamics(rounds, probability, gamma, period, window).items():
        available = rng.random((rounds, repetitions)) < p[:, None]
        unequal, entries = unequal + unequal_echoes(available), entries + int(available.sum())
        away = durations(available)
        whole = p[: rounds - rounds % length].reshape(-1, length)
        delta = float(whole.mean(axis=1).min())
        for moment, exact, bound in zip((1, 2), moments(p), bounds(length, delta), strict=True):
            worst = int(np.argmax(exact >= exact.max() * (1 - ROUNDING)))
            mean, low, high = map(float, mean_interval(away[worst] ** moment))
            rows.append((name, moment, length, delta, worst, exact[worst], mean, low, high, bound))
    columns = ["dynamics", "moment", "window", "delta", "round", "exact", "mean", "low", "high", "bound"]
    values = pd.DataFrame(rows, columns=columns)
    equal = Finding(
        "The echoes of a client sum to R whenever it is available in round R − 1",
        "Proposition 4",
        0,
        unequal,
        unequal == 0,
        f"exceptions among {entries} rounds of available clients",
    )
    return Checked(values, (equal, *map(_bounded, values.to_dict("records"))))


def _bounded(row: Mapping[Hashable, Any]) -> Finding:
    left = "E[t − τ]" if row["moment"] == 1 else "E[(t − τ)²]"
    return Finding(
        f"{left} stays below ({14 + row['moment']}): {row['dynamics']}",
        "Lemma 7",
        row["bound"],
        row["mean"],
        max(row["exact"], row["low"]) <= row["bound"],
        f"P = {row['window']}, δ = {row['delta']:.3g}, worst round {row['round']}: simulated (computed), exact value "
        f"{row['exact']:.4g}; holds: neither the exact value nor the interval lies above the bound",
        row["low"],
        row["high"],
    )


def draw(values: pd.DataFrame) -> Figure:
    """First and second moment of the worst round, simulated (dot, interval) and bounded (bar), by dynamics."""
    titles = {1: "E[t − τ]", 2: "E[(t − τ)²]"}
    with style.theme():
        figure, panels = style.panels(list(titles.values()), "rounds, rounds²", "", height=3.0, sharey=True)
        for axes, moment in zip(panels, titles, strict=True):
            chosen = values[values["moment"] == moment]
            place = np.arange(len(chosen))
            axes.hlines(place, chosen["low"], chosen["high"], color=looks.OTHER_COLOURS[0])
            axes.scatter(chosen["mean"], place, s=18, color=looks.OTHER_COLOURS[0], label="simulated")
            axes.scatter(chosen["bound"], place, marker="|", s=160, color=looks.OTHER_COLOURS[6], label="bound")
            axes.set_yticks(place, chosen["dynamics"])
            axes.set_ylim(len(chosen) - 0.5, -0.5)
            axes.set_xscale("log")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure
