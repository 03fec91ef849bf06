"""FedSWE needs its interpolation, k > 0 (FedSWE paper, Proposition 17 and Fig. 5).

Client i has the loss (x − u_i)² / 2. The first half of the clients is available in even rounds only, the other half in
odd rounds only.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from outagefl.analysis import looks, style
from outagefl.analysis.theory.algorithm import fedswe
from outagefl.analysis.theory.result import Array, Checked, Finding
from outagefl.errors import InputError
from outagefl.inputs import checks

FIGURE_OPTIMA = np.array([100.0, -100.0])  # of Fig. 5
THREE_DIGITS = 5e-4
CLOSE = 0.01  # our choice: of the distance between the two optima, how far off an end may be


def alternating(rounds: int, clients: int) -> NDArray[np.bool_]:
    """The availability of Proposition 17, (rounds, clients)."""
    first = np.arange(clients) < clients // 2
    return np.where(np.arange(rounds)[:, None] % 2 == 0, first, ~first)


def check(rng: np.random.Generator, *, clients: int, problems: int, rounds: int, learning_rate: float) -> Checked:
    """Run Algorithm 1 on ``problems`` random draws of u for ``clients`` clients, and on the two clients of Fig. 5.

    One local step a round with the learning rate ``learning_rate`` / √(t/10 + 1), as in Table 6, for an even number of
    ``rounds``. Values: the trajectories of Fig. 5 over the round: k, round, output (x), gradient (of the global loss),
    client 1, client 2.
    """
    checks.whole("theory.clients", clients, 2)
    checks.whole("theory.rounds", rounds, 2)
    checks.whole("theory.problems", problems, 1)
    checks.positive("theory.learning_rate", learning_rate)
    checks.number("theory.learning_rate", learning_rate, 0, 0.5)
    if clients % 2 or rounds % 2:
        raise InputError(f"theory: clients {clients} and rounds {rounds} must be even numbers")
    falling = learning_rate / np.sqrt(np.arange(rounds) / 10 + 1)
    optima = rng.uniform(-100, 100, (problems, clients))
    frames, two = [], alternating(rounds, 2)
    for k in (0, 1):
        x, local = fedswe(two, FIGURE_OPTIMA, k, falling)
        columns = {"output": x, "gradient": x - FIGURE_OPTIMA.mean(), "client 1": local[:, 0], "client 2": local[:, 1]}
        frames.append(pd.DataFrame({"k": k, "round": np.arange(rounds), **columns}))
    steady, _ = fedswe(two, FIGURE_OPTIMA, 1, np.full(rounds, learning_rate))
    values = pd.concat(frames, ignore_index=True)
    findings = (
        _window(),
        _limit(optima, falling),
        *_figure(*frames),
        _steady(steady, learning_rate),
    )
    return Checked(values, findings)


def limit(optima: Array) -> Array:
    """(30): the limit of ‖∇F(x) − ∇F(x*)‖² for u (…, m) without interpolation."""
    half = optima.shape[-1] // 2
    squared: Array = ((optima[..., :half].sum(-1) - optima[..., half:].sum(-1)) / optima.shape[-1]) ** 2
    return squared


def _window() -> Finding:
    share = float(alternating(2, 2).mean(axis=0).min())
    note = "least mean availability over windows of 2 rounds; over windows of 1 round it is 0"
    return Finding("Assumption 1 holds with P = 2 and δ = 0.5", "Proposition 17 (i)", 0.5, share, share == 0.5, note)


def _limit(optima: Array, progress: Array) -> Finding:
    x, _ = fedswe(alternating(len(progress), optima.shape[-1]), optima, 0, progress)
    expected, computed = limit(optima), (x[-2:] - optima.mean(-1)) ** 2
    off = np.abs(computed / expected - 1).max(axis=0)
    worst = int(off.argmax())
    return Finding(
        "Without interpolation ‖∇F(x)‖² tends to ‖Σ₁ u_i − Σ₂ u_j‖² / m², (30)",
        "Proposition 17 (ii)",
        expected[worst],
        computed[-1, worst],
        bool(off[worst] < THREE_DIGITS),
        f"{len(optima)} problems of {optima.shape[-1]} clients, even and odd last round: the largest relative error is "
        f"{off[worst]:.1e} (holds: to three digits)",
    )


def _figure(without: pd.DataFrame, interpolated: pd.DataFrame) -> tuple[Finding, ...]:
    """The four panels of Fig. 5 by how the trajectories end."""
    even, odd = without["output"].iloc[-2:]
    apart, together = (abs(path["client 1"] - path["client 2"]).iloc[-1] for path in (without, interpolated))
    gradient = interpolated["gradient"].abs().iloc[-2:].max()
    distance = float(np.ptp(FIGURE_OPTIMA))
    stated = (
        ("k = 0: the output alternates between the optima 100 and −100", "(a)", distance / 2, min(even, -odd)),
        ("k = 1: the gradient tends to 0", "(b)", 0, gradient),
        ("k = 0: the distance between the clients stays that between their optima", "(c)", distance, apart),
        ("k = 1: the clients reach a consensus, the distance between them tends to 0", "(d)", 0, together),
    )
    note = f"after {len(without)} rounds with η_l ∝ 1/√(t/10 + 1); holds: off by less than {CLOSE * distance:g}"
    return tuple(
        Finding(
            statement, f"Fig. 5{panel}", expected, computed, bool(abs(computed - expected) < CLOSE * distance), note
        )
        for statement, panel, expected, computed in stated
    )


def _steady(x: Array, learning_rate: float) -> Finding:
    expected = learning_rate * FIGURE_OPTIMA[0] / (1 + learning_rate)
    return Finding(
        "k = 1: with a constant learning rate the output still alternates, between ±100 η_l / (1 + η_l)",
        "Fig. 5(b), our derivation",
        expected,
        x[-2],
        bool(abs(x[-2] / expected - 1) < THREE_DIGITS and abs(x[-1] / expected + 1) < THREE_DIGITS),
        f"η_l = {learning_rate:g}, which Fig. 5 does not state: to tend to 0 as drawn it must fall",
    )


def draw(values: pd.DataFrame) -> Figure:
    """Fig. 5: gradient (above) and the two clients' models (below), k = 0 (left) and k = 1, over the first rounds."""
    first = values[values["round"] < 100]
    titles = [f"{what}, k = {k:g}" for what in ("gradient", "clients") for k in first["k"].unique()]
    with style.theme():
        figure, panels = style.panels(titles, "round", "model or gradient", sharey=True)
        for axes, title in zip(panels, titles, strict=True):
            path = first[first["k"] == int(title[-1])]
            if title.startswith("gradient"):
                axes.plot(path["round"], path["gradient"], color="#222222", linewidth=1)
            else:
                for column, colour in zip(("client 1", "client 2"), looks.OTHER_COLOURS, strict=False):
                    axes.plot(path["round"], path[column], color=colour, linewidth=1.5, label=column)
        panels[-1].legend(loc="upper right", fontsize=8)
    return figure
