"""The bounds on the spectral norm ρ_k, printed and mended, against its exact value (FedSWE paper, Lemmas 5 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory import mixing
from outagefl.analysis.theory.options import numbers
from outagefl.analysis.theory.result import Array, Checked, Finding
from outagefl.inputs import checks

TITLES = {"every round": "P = 1: all clients, every round", "in turns": "P > 1: two groups in turns"}
GAPS = {
    "gap": ("exact", "-"),
    "printed": ("(20) as printed", "--"),
    "mended": ("(20) with (m + k)⁴", "-."),
    "general": ("(21)", ":"),
}


def bound_gap(m: int, k: float, delta: float, power: float) -> float:
    """The least 1 − ρ_k by Lemma 11: [m²δ + k² + 2mk]² δ² / (8 (m + k)^power).

    ``power``: 2 in (20) as printed, 4P + 2 in (21). The proof of (20) ends with a function h(k) whose denominator is
    (m + k)²; 1 − (h(k) δ)² / 8 makes it 4.
    """
    # Divided before it is multiplied: (m + k)^power is too large for a float in long windows.
    h = (m * m * delta + k * k + 2 * m * k) / (m + k) ** 2
    return float((h * delta) ** 2 / 8 * float(m + k) ** (4 - power))


def check(
    rng: np.random.Generator,
    *,
    clients: int,
    virtual_clients: Sequence[float],
    probabilities: Sequence[float],
    group_probabilities: Sequence[Sequence[float]],
    group_rounds: int,
    example_probability: float,
    example_virtual_clients: float,
) -> Checked:
    """1 − ρ_k, exactly, against the least that each bound allows; nothing here is random.

    ``virtual_clients``: values of k above 0; the example's p and k are where (20) as printed is shown.
    Values: panel and availability (``mixing.windows``), k, gap, and by bound printed, mended (P = 1 only), general.
    """
    ks = numbers("theory.virtual_clients", virtual_clients, checks.positive)
    checks.number("theory.example_probability", example_probability, 0, 1)
    checks.positive("theory.example_virtual_clients", example_virtual_clients)
    rows = []
    for panel, availability, window in mixing.windows(clients, probabilities, group_probabilities, group_rounds):
        delta, length = window.mean(axis=0).min(), len(window)
        for k in ks:
            bounds = {"general": bound_gap(clients, k, delta, 4 * length + 2)}
            if length == 1:
                bounds |= {"printed": bound_gap(clients, k, delta, 2), "mended": bound_gap(clients, k, delta, 4)}
            rows.append(
                {"panel": panel, "availability": availability, "k": k, "gap": 1 - mixing.rho(window, k), **bounds}
            )
    values = pd.DataFrame(rows)
    single = values[values["panel"] == "every round"]
    return Checked(
        values,
        (
            _printed(single, clients, example_probability, example_virtual_clients),
            _bound(
                single,
                "mended",
                "(20) with the denominator 8(m+k)⁴ of its proof bounds ρ_k, P = 1",
                "Lemma 11, Appendix D.6",
            ),
            _bound(single, "general", "(21) bounds ρ_k, P = 1", "Lemma 11"),
            _bound(values[values["panel"] == "in turns"], "general", "(21) bounds ρ_k, P > 1", "Lemma 11"),
            _squares(),
        ),
    )


def _printed(single: pd.DataFrame, m: int, p: float, k: float) -> Finding:
    exact, bound = mixing.rho(np.full((1, m), p), k), 1 - bound_gap(m, k, p, 2)
    broken = int((single["gap"] < single["printed"]).sum())
    return Finding(
        "ρ_k ≤ (20) as printed, P = 1",
        "Lemma 11",
        bound,
        exact,
        exact <= bound,
        f"m = {m}, k = {k:g}, p = δ = {p:g}: an eigenvalue of a mean of W Wᵀ cannot be negative; (20) is broken by "
        f"{broken} of {len(single)} cases; the denominator lacks a square, see the next line",
    )


def _bound(cases: pd.DataFrame, name: str, statement: str, source: str) -> Finding:
    slack = cases["gap"] / cases[name]
    tightest = cases.iloc[int(slack.argmin())]
    return Finding(
        statement,
        source,
        1 - tightest[name],
        1 - tightest["gap"],
        bool((slack >= 1).all()),
        f"{len(cases)} cases; the bound comes nearest at p = {tightest['availability']}, k = {tightest['k']:g}, where "
        f"1 − ρ_k is {tightest['gap']:.2g} and should be at least {tightest[name]:.1e}",
    )


def _squares() -> Finding:
    """Client 1 alone, then client 2 alone, with one virtual client: W is not symmetric, and no draw is involved."""
    first, second = mixing.mixing_matrices(np.array([[True, False], [False, True]]), 1)
    window: Array = first @ second
    left = mixing.second_eigenvalue(window @ window.T)
    as_printed = float(np.sort(np.linalg.eigvals(window @ window).real)[-2])
    return Finding(
        "Lemma 5 with ρ_k = λ₂(E[W²]), as it is defined",
        "Section 6.2.1",
        as_printed,
        left,
        left <= as_printed,
        "client 1 of 2, then client 2, k = 1: in some direction this share of the square distance from consensus "
        "is left, more than λ₂(W²) allows; the lemma holds for λ₂(E[W Wᵀ]), called ρ_k in all findings (a product of "
        "symmetric matrices is not symmetric)",
    )


def draw(values: pd.DataFrame) -> Figure:
    """1 − ρ_k against k, exact and as bounded from below, a colour for each availability."""
    shown = [panel for panel in TITLES if panel in set(values["panel"])]
    with style.theme():
        figure, panels = style.panels([TITLES[panel] for panel in shown], "virtual clients k", "1 − ρ_k", height=3.8)
        for axes, panel in zip(panels, shown, strict=True):
            for place, (name, curve) in enumerate(values[values["panel"] == panel].groupby("availability", sort=False)):
                colour = looks.OTHER_COLOURS[place % len(looks.OTHER_COLOURS)]
                axes.plot([], [], color=colour, label=f"p = {name}")
                for column, (_, dash) in GAPS.items():
                    axes.plot(curve["k"], curve[column], color=colour, linestyle=dash, linewidth=1.5)
            axes.axhline(1, color="#222222", linewidth=1)  # no gap can be larger
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False)
        handles = [
            panels[0].plot([], [], color="#222222", linestyle=dash, label=name)[0] for name, dash in GAPS.values()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure
