"""What inverse reception rates do to a neighbour's part in the aggregate (DFL-AA paper, Theorem 1 and section V-C)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure

from outagefl.analysis import looks, style
from outagefl.analysis.theory.options import not_negative, numbers, probability
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.inputs import checks
from outagefl.rules.age_and_reception import RECEPTION_RATES
from outagefl.rules.inbox import dflaa
from outagefl.rules.inbox_view import InboxView

TOLERANCE = 1e-9
FLOOR = 1e-6  # out of the way
KNOWN, ESTIMATED = "true q", "estimated q̂"
QUANTITIES = {
    "numerator": "numerator",
    "coefficient": "divided by 1 + Σ a",
    "uniform": "uniform weights",
}


def completenesses(rng: np.random.Generator, rate: float, chunks: int, shape: tuple[int, ...]) -> Array:
    """Shares of messages of ``chunks`` chunks that arrive."""
    return rng.binomial(chunks, rate, shape) / chunks


def weights(complete: Array, ages: Array, rates: torch.Tensor, *, tau: float, beta: float) -> Array:
    """DFL-AA's weights (k,) of messages with these completenesses and ages; ``rates``: q̂ so far, updated in place."""
    senders = np.arange(len(ages))
    view = InboxView(
        receiver=0,
        senders=senders,
        completeness=complete,
        generated_at=-ages,
        receptions=tuple(zip(senders.tolist(), complete.tolist(), strict=True)),
        out_neighbours=senders,
        lossy=True,
        rng=np.random.default_rng(0),
    )
    memory = {RECEPTION_RATES: rates}
    return dflaa.weights(view, memory, tau=tau, beta=beta, c_min=0, q_floor=FLOOR, update_on="reception")


def check(
    rng: np.random.Generator,
    *,
    ages: Sequence[float],
    rates: Sequence[float],
    tau: float,
    beta: float,
    chunks: int,
    repetitions: int,
) -> Checked:
    """The expected part of each neighbour, by reception rate, under the study's own rule.

    A neighbour's coefficient is what the update takes of w_j − w_i on average over the chunks: its weight times the
    completeness of its message. The rule knows the true rate, or tracks it with ``beta`` over the ``repetitions``.

    Values: quantity (numerator, coefficient, uniform), knowledge, rate, age, expected, mean, low, high, intervals that
    hold for all rates and ages of a quantity at once.
    """
    chosen = numbers("theory.rates", rates, probability, least=2)
    times = np.array(numbers("theory.ages", ages, not_negative, least=2), dtype=float)
    checks.positive("theory.tau", tau)
    probability("theory.beta", beta)
    checks.whole("theory.chunks", chunks, 1)
    checks.whole("theory.repetitions", repetitions, 2)
    neighbours, discounts = len(times), np.exp(-(times - times.min()) / tau)
    rows = []
    for rate in chosen:
        complete = completenesses(rng, rate, chunks, (repetitions, neighbours))
        for knowledge, factor in ((KNOWN, 0.0), (ESTIMATED, beta)):
            known = torch.full((1, neighbours), rate, dtype=torch.float64)
            shares = np.array([weights(one, times, known, tau=tau, beta=factor) for one in complete])
            parts = {
                "numerator": (shares / (1 - shares.sum(axis=1, keepdims=True)) * complete, discounts),
                "coefficient": (shares * complete, discounts / (1 + discounts.sum() / rate)),
                "uniform": (complete / (1 + neighbours), np.full(neighbours, rate / (1 + neighbours))),
            }
            for quantity, (samples, expected) in parts.items():
                found = zip(times, expected, *mean_interval(samples.T, neighbours * len(chosen)), strict=True)
                rows += [(quantity, knowledge, rate, *row) for row in found]
    columns = ["quantity", "knowledge", "rate", "age", "expected", "mean", "low", "high"]
    values = pd.DataFrame(rows, columns=columns)
    return Checked(values, (_free(values, KNOWN), _free(values, ESTIMATED), _denominator(values), _gain(values)))


def _free(values: pd.DataFrame, knowledge: str) -> Finding:
    own = values[(values["quantity"] == "numerator") & (values["knowledge"] == knowledge)]
    inside = (own["low"] - TOLERANCE <= own["expected"]) & (own["expected"] <= own["high"] + TOLERANCE)
    worst = own.iloc[int((own["mean"] - own["expected"]).abs().argmax())]
    return Finding(
        f"The numerator's coefficient is exp(−AoI/τ), free of q: {knowledge}",
        "Theorem 1" if knowledge == KNOWN else "Remark after Theorem 1",
        worst["expected"],
        worst["mean"],
        bool(inside.all()),
        f"farthest off: q = {worst['rate']:g}, AoI {worst['age']:g} s; {inside.sum()} of {len(own)} intervals contain "
        "the expected value",
        worst["low"],
        worst["high"],
    )


def _denominator(values: pd.DataFrame) -> Finding:
    own = values[(values["quantity"] == "coefficient") & (values["knowledge"] == KNOWN)]
    freshest = own[own["age"] == own["age"].min()].sort_values("rate")
    least, most = freshest.iloc[0], freshest.iloc[-1]
    return Finding(
        "The coefficient in the update, after division by 1 + Σ a, is free of q as well",
        "Section V-C",
        most["mean"],
        least["mean"],
        bool(least["high"] >= most["low"]),
        f"freshest neighbour at q = {most['rate']:g} (expected) and q = {least['rate']:g} (computed): Σ a = Σ α/q "
        "grows as q falls, so all neighbours together count less against the receiver's own model",
        least["low"],
        least["high"],
    )


def _gain(values: pd.DataFrame) -> Finding:
    own = values[(values["knowledge"] == KNOWN) & (values["rate"] == values["rate"].min())]
    both = own.groupby("quantity")["mean"].sum()
    rate, ratio = own["rate"].iloc[0], float(both["coefficient"] / both["uniform"])
    neighbours = own["age"].nunique()
    return Finding(
        "Inverse weighting undoes the factor q of Proposition 1",
        "Section V-A",
        1 / rate,
        ratio,
        ratio >= 1 / rate,
        f"how much more of its {neighbours} neighbours the receiver takes than with uniform weights, q = {rate:g}, all "
        f"links alike: 1/q were it undone; without age at most (1 + k) / (q + k) = "
        f"{(1 + neighbours) / (rate + neighbours):.3f}",
    )


def draw(values: pd.DataFrame) -> Figure:
    """Each quantity against q, a curve per age: lines expected, dots simulated with the true q, crosses with q̂."""
    ages = list(dict.fromkeys(values["age"]))
    with style.theme():
        figure, panels = style.panels(list(QUANTITIES.values()), "reception rate q", "coefficient of w_j − w_i")
        for axes, quantity in zip(panels, QUANTITIES, strict=True):
            for place, age in enumerate(ages):
                colour = looks.OTHER_COLOURS[place % len(looks.OTHER_COLOURS)]
                own = values[(values["quantity"] == quantity) & (values["age"] == age)]
                known, tracked = (own[own["knowledge"] == name] for name in (KNOWN, ESTIMATED))
                axes.plot(known["rate"], known["expected"], color=colour, linewidth=1.3, label=f"AoI {age:g} s")
                axes.scatter(known["rate"], known["mean"], color=colour, s=12, zorder=3)
                axes.scatter(tracked["rate"], tracked["mean"], color=colour, s=24, marker="x", linewidth=0.9, zorder=3)
            axes.set_ylim(bottom=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure
