"""How the spectral norm ρ_k of FedSWE's mixing depends on k (FedSWE paper, Section 6.5.1, Example 16 and Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory import mixing
from outagefl.analysis.theory.options import not_negative, numbers
from outagefl.analysis.theory.result import Array, Checked, Finding
from outagefl.inputs import checks

ROUNDING = 1e-12
INFINITE = 1e9  # as good as infinitely many virtual clients
TITLES = {"every round": "all clients, every round", "in turns": "two groups in turns"}


def check(
    rng: np.random.Generator,
    *,
    clients: int,
    virtual_clients: Sequence[float],
    probabilities: Sequence[float],
    group_probabilities: Sequence[Sequence[float]],
    group_rounds: int,
    repetitions: int,
) -> Checked:
    """ρ_k for every k of ``virtual_clients``  (0 or more), exactly and over ``repetitions`` as in the figure.

    Values: panel and availability (``mixing.windows``), mean_availability (per round), k, rho, sampled.
    """
    checks.whole("theory.repetitions", repetitions, 1)
    ks = numbers("theory.virtual_clients", virtual_clients, not_negative, least=2)
    rows = []
    dynamics = list(mixing.windows(clients, probabilities, group_probabilities, group_rounds))
    for panel, availability, window in dynamics:
        for k in ks:
            sampled = mixing.second_eigenvalue(mixing.sampled_square(rng, window, k, repetitions))
            rows.append((panel, availability, window.mean(), k, mixing.rho(window, k), sampled))
    values = pd.DataFrame(rows, columns=["panel", "availability", "mean_availability", "k", "rho", "sampled"])
    return Checked(
        values,
        (
            *(_falls_in_k(values, panel, source) for panel, source in (("every round", "4(a)"), ("in turns", "4(b)"))),
            _always_available(clients, ks),
            _falls_in_availability(values),
            _direction(clients, dynamics[-1][2]),
            _infinite(dynamics[0][2]),
            _sampling(values, repetitions),
        ),
    )


def _falls_in_k(values: pd.DataFrame, panel: str, source: str) -> Finding:
    chosen = values[(values["panel"] == panel) & (values["mean_availability"] < 1)]
    change = chosen.groupby("availability", sort=False)["rho"].diff().max()
    note = (
        f"largest change of ρ_k to the next k of {', '.join(f'{k:g}' for k in chosen['k'].unique())}, over all curves"
    )
    return Finding("ρ_k decreases in k", f"Example 16, Fig. {source}", np.nan, change, bool(change < 0), note)


def _always_available(clients: int, ks: Sequence[float]) -> Finding:
    most = max(mixing.rho(np.ones((1, clients)), k) for k in ks)
    statement = "ρ_k = 0 for clients that are always available"
    return Finding(statement, "Fig. 4(a)", 0, most, most < ROUNDING, "the largest over all k, up to rounding")


def _falls_in_availability(values: pd.DataFrame) -> Finding:
    chosen = values[values["panel"] == "every round"].sort_values("mean_availability")
    change = chosen.groupby("k")["rho"].diff().max()
    note = "largest change of ρ_k to the next larger p, over all k"
    statement = "ρ_k is smaller when clients are more frequently available"
    return Finding(statement, "Example 16", np.nan, change, bool(change < 0), note)


def _direction(clients: int, window: Array) -> Finding:
    perfect, none = mixing.rho(np.ones((1, clients)), 0), mixing.rho(window, 0)
    return Finding(
        "Worse information fusion means a smaller ρ_k",
        "Example 16",
        perfect,
        none,
        none < perfect,
        "k = 0: clients that are all available agree after one round (expected), two groups in turns never exchange "
        "anything (computed); ρ_k is the largest share of the square distance from consensus that is left, so worse "
        "fusion means a larger one; the sentence has the direction reversed",
    )


def _infinite(window: Array) -> Finding:
    limit, missing = mixing.rho(window, INFINITE), 1 - window.min()
    return Finding(
        "ρ_k ≈ 0 for k → ∞",
        "Section 6.5.1",
        0,
        limit,
        limit < 1e-3,
        f"p = {window.min():g}, one round, k = {INFINITE:g}: ρ_k tends to the chance {missing:g} that a client is "
        "missing; it keeps its own model then, however many virtual clients there are",
    )


def _sampling(values: pd.DataFrame, repetitions: int) -> Finding:
    excess = values["sampled"] - values["rho"]
    worst = values.iloc[int(excess.abs().argmax())]
    return Finding(
        f"The norm of a mean over {repetitions} repetitions is ρ_k",
        "Fig. 4",
        worst["rho"],
        worst["sampled"],
        bool(excess.abs().max() < 0.05),
        f"where they differ most: {TITLES[worst['panel']]}, p = {worst['availability']}, k = {worst['k']:g}; over "
        f"all cases it is {excess.mean():.2g} too large on average, where the norm of a mean of draws is never below "
        "that of the expectation; holds: within 0.05",
    )


def draw(values: pd.DataFrame) -> Figure:
    """ρ_k against k, a curve for each availability (exact) with dots (repetitions, as in Fig. 4)."""
    shown = [panel for panel in TITLES if panel in set(values["panel"])]
    with style.theme():
        figure, panels = style.panels(
            [TITLES[panel] for panel in shown], "virtual clients k", "spectral norm", height=3.6
        )
        for axes, panel in zip(panels, shown, strict=True):
            for place, (name, curve) in enumerate(values[values["panel"] == panel].groupby("availability", sort=False)):
                colour = looks.OTHER_COLOURS[place % len(looks.OTHER_COLOURS)]
                axes.plot(curve["k"], curve["rho"], color=colour, linewidth=1.5, label=f"p = {name}")
                axes.scatter(curve["k"], curve["sampled"], color=colour, s=14, zorder=3)
            axes.set_xscale("symlog", linthresh=1)
            axes.set_ylim(-0.03, 1.03)
            axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False)
    return figure
