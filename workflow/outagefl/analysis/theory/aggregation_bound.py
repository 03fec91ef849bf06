"""How low the error of an aggregate of stale models can be (SFG article, theory): the bound, and who is above it.

The article states the bound in words; the model is our formalisation of them, see ``aggregation``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from outagefl.analysis import looks, style
from outagefl.analysis.theory import aggregation
from outagefl.analysis.theory.neighbourhood import gossip_rules, receiver_weights
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.inputs import checks

ROUNDING = 1e-9
LONGEST = 20  # rounds, of the simulated lags
RANDOM = "any"  # stands for the random rules of the class among the methods
SHADE = "#666666"


def check(
    rng: np.random.Generator,
    *,
    methods: Mapping[str, Mapping[str, Any]],
    neighbours: int,
    drift: float,
    dispersion: float,
    draws: int,
    repetitions: int,
) -> Checked:
    """Hold the model's formula against a simulation, and the errors of rules at random lags against the bounds.

    ``drift``: δ², ``dispersion``: σ². ``draws``: lags, each with a random rule, and the samples of the simulation; the
    rules of ``methods`` are tried at the first ``repetitions`` lags. Values: method (``any``: a random rule of the
    class), bound (that for the class), error, both for the method's weights and lags, and staleness (ℓ_0 − min ℓ).
    """
    checks.whole("theory.neighbours", neighbours, 1)
    checks.positive("theory.drift", drift)
    checks.positive("theory.dispersion", dispersion)
    checks.whole("theory.draws", draws, 2)
    checks.whole("theory.repetitions", repetitions, 1, draws)
    model = (drift, dispersion)
    lags = aggregation.random_lags(rng, draws, neighbours)
    tried = {
        name: np.array([receiver_weights(rule, row) for row in lags[:repetitions]])
        for name, rule in gossip_rules(methods).items()
    }
    random = aggregation.class_weights(rng, draws, neighbours)
    frames = [_errors(name, weights, lags, model) for name, weights in {RANDOM: random, **tried}.items()]
    values = pd.concat(frames, ignore_index=True)
    findings = (
        _formula(rng, {name: weights[0] for name, weights in tried.items()}, neighbours, model, draws),
        _random(values),
        *(_rule(name, weights, values[values["method"] == name]) for name, weights in tried.items()),
        _any_weights(rng.dirichlet(np.ones(neighbours + 1), draws), lags, model),
    )
    return Checked(values, findings)


def _errors(name: str, weights: Array, lags: Array, model: tuple[float, float]) -> pd.DataFrame:
    lags = lags[: len(weights)]
    columns = {"bound": aggregation.bound(lags, *model), "error": aggregation.error(weights, lags, *model)}
    return pd.DataFrame({"method": name, **columns, "staleness": lags[:, 0] - lags.min(axis=1)})


def _formula(
    rng: np.random.Generator, rules: Mapping[str, Array], neighbours: int, model: tuple[float, float], draws: int
) -> Finding:
    lags = rng.integers(0, LONGEST + 1, neighbours + 1)
    weights = np.array(list(rules.values()))
    expected = aggregation.error(weights, lags.astype(float), *model)
    squared = aggregation.simulate(rng, weights, lags, *model, draws)
    mean, low, high = mean_interval(squared, len(weights))
    inside = (low <= expected) & (expected <= high)
    worst = int(np.abs(mean / expected - 1).argmax())
    return Finding(
        "The expected error of an aggregate is δ² Σ w_j w_k min(ℓ_j, ℓ_k) + σ² Σ w_j²",
        "our formalisation of the article's theory",
        expected[worst],
        mean[worst],
        bool(inside.all()),
        f"random walks, lags {', '.join(map(str, lags))}; of the weights tried those farthest off; {inside.sum()} of "
        f"{len(weights)} intervals, made to hold all at once, contain the formula's value",
        low[worst],
        high[worst],
    )


def _random(values: pd.DataFrame) -> Finding:
    ratio = _ratio(values[values["method"] == RANDOM])
    return Finding(
        "No rule whose own weight is at least each neighbour's has less error than δ² (m + (ℓ_0 − m) / (n + 1)²) + "
        "σ² / (n + 1), m = min ℓ",
        "article, theory; our formalisation",
        1,
        ratio.min(),
        bool(ratio.min() >= 1 - ROUNDING),
        f"error over bound, the least of {len(ratio)} random rules of this class at random lags; {_below(ratio)} below",
    )


def _rule(name: str, weights: Array, values: pd.DataFrame) -> Finding:
    protected = weights[:, :1] >= weights - ROUNDING
    ratio, within = _ratio(values), int(protected.all(axis=1).sum())
    return Finding(
        f"Within the bound: {looks.label(name)}",
        "article, theory; our formalisation",
        1,
        ratio.min(),
        bool(ratio.min() >= 1 - ROUNDING),
        f"error over bound, the least at {len(ratio)} random lags, {_below(ratio)} below; its own weight is at least "
        f"each neighbour's at {within} of them",
    )


def _any_weights(weights: Array, lags: Array, model: tuple[float, float]) -> Finding:
    ratio = aggregation.error(weights, lags, *model) / aggregation.floor(lags, *model)
    return Finding(
        "A fresh neighbour cannot be invented: no weights that sum to 1 have less error than δ² min ℓ + σ² / (n + 1)",
        "article, title; our derivation",
        1,
        ratio.min(),
        bool(ratio.min() >= 1 - ROUNDING),
        f"error over bound, the least of {len(ratio)} draws from all weights at random lags; {_below(ratio)} below",
    )


def _ratio(values: pd.DataFrame) -> Array:
    ratio: Array = (values["error"] / values["bound"]).to_numpy()
    return ratio


def _below(ratio: Array) -> int:
    return int((ratio < 1 - ROUNDING).sum())


def draw(values: pd.DataFrame) -> Figure:
    """Error over the bound for the class against how stale the receiver is, a panel per rule; out of reach: shaded."""
    methods = list(dict.fromkeys(values["method"]))
    titles = ["Random rules of the class" if method == RANDOM else looks.label(method) for method in methods]
    with style.theme():
        figure, panels = style.panels(
            titles, "rounds behind the freshest", "error / bound", height=1.5, sharey=True, columns=3
        )
        for axes, method in zip(panels, methods, strict=True):
            own = values[values["method"] == method]
            colour = looks.look(method)["color"] if method != RANDOM else SHADE
            axes.axhspan(0, 1, color=SHADE, alpha=0.25, linewidth=0)
            axes.scatter(own["staleness"], own["error"] / own["bound"], s=5, color=colour, alpha=0.5, linewidth=0)
            axes.set_xscale("symlog", linthresh=1)
            axes.set_yscale("log")
        shaded = Line2D([], [], color=SHADE, alpha=0.25, linewidth=8, label="no rule of the class can be here")
        figure.legend(handles=[shaded], loc="outside lower center", frameon=False)
    return figure
