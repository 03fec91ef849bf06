"""Who does not discount the receiver has an error without limit in its outage (SFG article, theory).

The article states the result in words; the model is our formalisation of them, see ``aggregation``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from outagefl.analysis import looks, style
from outagefl.analysis.theory.aggregation import bound, overtaken
from outagefl.analysis.theory.neighbourhood import Rule, errors, gossip_rules, receiver_weights, with_receiver
from outagefl.analysis.theory.options import numbers
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.errors import InputError
from outagefl.inputs import checks

ROUNDING = 1e-9
FAR = 1_000_000  # rounds
FRESH, OWN, TOGETHER = "Fresh neighbours", "Neighbours back from outages", "Neighbours away as long"
SHADE = "#666666"


def check(
    rng: np.random.Generator,
    *,
    methods: Mapping[str, Mapping[str, Any]],
    method: str,
    baseline: str,
    neighbours: int,
    drift: float,
    dispersion: float,
    outages: Sequence[int],
    mean_on: float,
    mean_off: float,
    repetitions: int,
) -> Checked:
    """The expected error of every rule among ``methods`` after the receiver has missed each of ``outages`` rounds.

    Its neighbours are fresh, or back from outages of their own (one that is online has just come back with chance
    1 / ``mean_on``, from a geometric outage of ``mean_off`` rounds on average; ``repetitions`` draws), or were away as
    long. ``drift``: δ², ``dispersion``: σ². ``method`` is compared with ``baseline``.

    Values: panel, method, outage, error, low, high (intervals that hold for all of a panel at once; the error itself
    where it is exact), bound (for the class), ahead (where ``method`` has less error than ``baseline`` from here on:
    this in words, else empty).
    """
    checks.choice("theory.method", method, methods)
    checks.choice("theory.baseline", baseline, methods)
    checks.whole("theory.neighbours", neighbours, 1)
    checks.positive("theory.drift", drift)
    checks.positive("theory.dispersion", dispersion)
    away = np.array(numbers("theory.outages", outages, _rounds, least=2))
    checks.number("theory.mean_on", mean_on, 1)
    checks.number("theory.mean_off", mean_off, 1)
    checks.whole("theory.repetitions", repetitions, 2)
    if away[-1] <= overtaken(neighbours, drift, dispersion):
        raise InputError(
            f"theory.outages: {outages!r} end before {overtaken(neighbours, drift, dispersion):g} rounds, "
            "(n + 1) σ² / (n δ²), where self-discounting must have paid off"
        )
    shape = (repetitions, neighbours)
    back = (rng.random(shape) < 1 / mean_on) * rng.geometric(1 / mean_off, shape)
    panels = {FRESH: np.zeros((1, 1, neighbours)), OWN: back[None], TOGETHER: np.tile(away[:, None, None], neighbours)}
    rules, model = gossip_rules(methods), (drift, dispersion)
    frames, found = [], {}
    for name, others in panels.items():
        lags = with_receiver(away, others)
        found[name] = {rule: errors(rules[rule], lags, *model) for rule in rules}
        lowest = bound(lags, *model).mean(axis=-1)
        stays = from_here_on(found[name][method].mean(axis=-1), found[name][baseline].mean(axis=-1))
        ahead = np.where(stays, f"{looks.label(method)} ahead of {looks.label(baseline)}", "")
        frames += [_rows(name, rule, away, of, lowest, ahead, len(rules)) for rule, of in found[name].items()]
    growth = [_growth(name, rule, neighbours, model) for name, rule in rules.items()]
    overtaking = _overtaking(rules[method], rules[baseline], (method, baseline), int(away[-1]), neighbours, model)
    compared = (_own(found[OWN], method, baseline), _together(found[TOGETHER], method, baseline))
    return Checked(pd.concat(frames, ignore_index=True), (*growth, overtaking, *compared))


def _rounds(key: str, value: object) -> None:
    checks.whole(key, value, 0)


def from_here_on(found: Array, baseline: Array) -> NDArray[np.bool_]:
    """Where a method's errors, by outage, are below the baseline's and stay so."""
    less = found < baseline * (1 - ROUNDING)
    return np.logical_and.accumulate(less[::-1])[::-1]


def _rows(
    panel: str, method: str, away: Array, found: Array, lowest: Array, ahead: NDArray[np.str_], methods: int
) -> pd.DataFrame:
    exact = found.shape[1] == 1
    mean, low, high = [found[:, 0]] * 3 if exact else mean_interval(found, methods * len(away))
    columns = {"outage": away, "error": mean, "low": low, "high": high, "bound": lowest, "ahead": ahead}
    return pd.DataFrame({"panel": panel, "method": method, **columns})


def _growth(name: str, rule: Rule, neighbours: int, model: tuple[float, float]) -> Finding:
    fresh = np.zeros((1, 1, neighbours))
    lags = with_receiver(np.array([FAR, 2 * FAR]), fresh)
    far, twice = errors(rule, lags, *model)[:, 0]
    weights = receiver_weights(rule, lags[0, 0])
    drift, dispersion = model
    if weights[0] >= weights.max() - ROUNDING:
        slope, least = (twice - far) / FAR, drift / (neighbours + 1) ** 2
        return Finding(
            f"The error grows without limit with the outage, by at least δ² / (n + 1)² a round: {looks.label(name)}",
            "article, theory; our formalisation",
            least,
            slope,
            bool(slope >= least * (1 - ROUNDING)),
            f"growth a round between {FAR:g} and {2 * FAR:g} missed rounds, {neighbours} fresh neighbours; this rule "
            "weighs the receiver at least as much as each of them",
        )
    alone = dispersion / neighbours
    return Finding(
        f"The error stays bounded as the outage grows and tends to that of the neighbours alone, σ² / n: "
        f"{looks.label(name)}",
        "article, theory; our formalisation",
        alone,
        far,
        bool(np.allclose([far, twice], alone, rtol=ROUNDING, atol=0)),
        f"error after {FAR:g} missed rounds, {neighbours} fresh neighbours; this rule discounts the receiver",
    )


def _overtaking(
    rule: Rule, baseline: Rule, names: tuple[str, str], longest: int, neighbours: int, model: tuple[float, float]
) -> Finding:
    lags = with_receiver(np.arange(longest + 1), np.zeros((1, 1, neighbours)))
    ahead = from_here_on(errors(rule, lags, *model)[:, 0], errors(baseline, lags, *model)[:, 0])
    first, latest = float(ahead.argmax()) if ahead.any() else np.nan, overtaken(neighbours, *model)
    method, other = map(looks.label, names)
    return Finding(
        f"{method} has less error than {other} after (n + 1) σ² / (n δ²) missed rounds at the latest",
        "our derivation",
        latest,
        first,
        bool(first <= np.floor(latest) + 1),
        f"first whole number of rounds from which on it has, {neighbours} fresh neighbours; before, the receiver's "
        f"model takes away more dispersion than it adds staleness; δ² = {model[0]:g}, σ² = {model[1]:g} (our choice)",
    )


def _own(found: Mapping[str, Array], method: str, baseline: str) -> Finding:
    mean, low, high = map(float, mean_interval(found[method][-1] - found[baseline][-1]))
    return Finding(
        f"{looks.label(method)} has less error than {looks.label(baseline)} after a long outage when its neighbours "
        "are back from outages of their own",
        "our derivation",
        0,
        mean,
        high < 0,
        f"difference of the errors after the longest outage; {looks.label(baseline)}: {found[baseline][-1].mean():.3g}",
        low,
        high,
    )


def _together(found: Mapping[str, Array], method: str, baseline: str) -> Finding:
    ours, theirs = float(found[method][-1, 0]), float(found[baseline][-1, 0])
    return Finding(
        f"Where every neighbour was away as long, {looks.label(method)} has the error of {looks.label(baseline)}",
        "article, title; our formalisation",
        theirs,
        ours,
        bool(np.isclose(ours, theirs, rtol=ROUNDING, atol=0)),
        "after the longest outage: nobody is fresher than the receiver, so there is nothing to discount",
    )


def draw(values: pd.DataFrame) -> Figure:
    """Error against the outage, a line per rule, thinner over thicker; shaded: out of reach for the class."""
    methods = list(dict.fromkeys(values["method"]))
    names = list(dict.fromkeys(values["panel"]))
    words = next(filter(None, values["ahead"]), "")
    shaded = Line2D([], [], color=SHADE, alpha=0.25, linewidth=8, label="below the bound")
    crossing = Line2D([], [], color=SHADE, linewidth=1, linestyle=(0, (1, 1)), label=words)
    with style.theme():
        figure, panels = style.panels(names, "rounds the receiver missed", "expected error", height=3.4, sharey=True)
        for axes, name in zip(panels, names, strict=True):
            shown = values[values["panel"] == name]
            for method, width in zip(methods, np.linspace(4.5, 1.2, len(methods)), strict=True):
                own = shown[shown["method"] == method]
                axes.plot(own["outage"], own["error"], linewidth=width, **looks.look(method))
                axes.fill_between(own["outage"], own["low"], own["high"], color=looks.look(method)["color"], alpha=0.15)
            edge = shown.drop_duplicates("outage")
            axes.fill_between(edge["outage"], 0, edge["bound"], color=SHADE, alpha=0.25, linewidth=0)
            for first in edge.loc[edge["ahead"] != "", "outage"].head(1):
                axes.axvline(first, color=SHADE, linewidth=1, linestyle=(0, (1, 1)))
            axes.set_yscale("log")
        panels[0].set_ylim(values["bound"].min() / 1.5)
        style.legend(figure, methods, more=[shaded, *([crossing] if words else [])])
    return figure
