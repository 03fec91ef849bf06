"""Slips in the text of the FedSWE paper, each shown by a computation (those about ρ_k are in the checks of mixing)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory.options import numbers
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.inputs import checks


def weights(available: int, k: float) -> tuple[float, float]:
    """The sum of all weights in (6) as printed, where x^t has 1 − 1/(|A| + k), and in Algorithm 1, with k/(|A| + k)."""
    fresh = available / (available + k)
    return fresh + 1 - 1 / (available + k), fresh + k / (available + k)


def heterogeneity(rng: np.random.Generator, alpha: float, classes: int, clients: int) -> Array:
    """Total variation distance of label mixes ν_i ~ Dirichlet(α) from the uniform mix, (clients,): 0 is homogeneous."""
    mixes = rng.dirichlet(np.full(classes, alpha), clients)
    distance: Array = np.abs(mixes - 1 / classes).sum(axis=1) / 2
    return distance


def check(
    rng: np.random.Generator,
    *,
    available: int,
    virtual_clients: float,
    window: int,
    alphas: Sequence[float],
    classes: int,
    clients: int,
) -> Checked:
    """Compute what the paper says about (6), (31), (32) and Table 9.

    ``available`` clients and k = ``virtual_clients`` in (6); P = ``window`` in (31) and (32); the label mixes of
    ``clients`` clients are drawn for each of ``alphas``. Values: alpha, heterogeneity with the ends low, high of its
    95 % interval.
    """
    checks.whole("theory.available", available, 2)
    checks.number("theory.virtual_clients", virtual_clients, 0)
    checks.whole("theory.window", window, 2)
    checks.whole("theory.classes", classes, 2)
    checks.whole("theory.clients", clients, 2)
    chosen = numbers("theory.alphas", alphas, checks.positive, least=2)
    rows = [(a, *map(float, mean_interval(heterogeneity(rng, a, classes, clients)))) for a in chosen]
    values = pd.DataFrame(rows, columns=["alpha", "heterogeneity", "low", "high"])
    return Checked(values, (*_weights(available, virtual_clients), _halves(window), _alpha(values)))


def _weights(available: int, k: float) -> tuple[Finding, ...]:
    printed, algorithm = weights(available, k)
    where = f"sum of all weights, |A| = {available}, k = {k:g}"
    return (
        Finding(
            "The update is an average of the clients' models and x^t: (6) as printed",
            "Section 5.2, (6)",
            1,
            printed,
            abs(printed - 1) < 1e-9,
            f"{where}: clients that all hold x would move to {printed:.3g} x; the weight of x^t must be k / (|A| + k)",
        ),
        Finding(
            "The update is an average of the clients' models and x^t: Algorithm 1",
            "Algorithm 1",
            1,
            algorithm,
            abs(algorithm - 1) < 1e-9,
            where,
        ),
    )


def _halves(window: int) -> Finding:
    first = int((np.arange(window) <= window / 2).sum())
    return Finding(
        "Both groups have half of each window, (31) and (32)",
        "Section 7.1",
        window / 2,
        first,
        first == window / 2,
        f"rounds of the first group by t mod P ≤ P/2, P = {window}; {window - first} are left to the second, since t "
        "starts at 0; the runs of the study use t mod P < P/2",
    )


def _alpha(values: pd.DataFrame) -> Finding:
    least, most = values.iloc[0], values.iloc[-1]
    return Finding(
        "Local data become more heterogeneous when α increases",
        "Appendix H.3, before Table 9",
        least["heterogeneity"],
        most["heterogeneity"],
        bool(most["heterogeneity"] > least["heterogeneity"]),
        f"mean distance of a client's label mix from the uniform one (total variation) at α = {least['alpha']:g} "
        f"(expected: less) and α = {most['alpha']:g} (computed); it is the small α that is heterogeneous",
        most["low"],
        most["high"],
    )


def draw(values: pd.DataFrame) -> Figure:
    """Heterogeneity of label mixes against α."""
    with style.theme():
        figure, (axes,) = style.panels([""], "Dirichlet α", "distance of a label mix from uniform")
        axes.plot(values["alpha"], values["heterogeneity"], "o-", color=looks.OTHER_COLOURS[0], linewidth=1.5)
        axes.vlines(values["alpha"], values["low"], values["high"], color=looks.OTHER_COLOURS[0])
        axes.set_xscale("log")
        axes.set_ylim(0, 1)
    return figure
