"""The SFG article's toy: models of one number whose error is their effective lag, mixed by every rule of the study.

The collaborative state goes up by 1 a round, and so does a model that is trained; one that is not misses it. The rounds
are those of the engine itself. The article's own charts are not in its text; graph, outages and rounds are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray

from outagefl import components
from outagefl.analysis import looks, style
from outagefl.analysis.theory.neighbourhood import Rule, gossip_rules, receiver_weights
from outagefl.analysis.theory.result import Array, Checked, Finding, mean_interval
from outagefl.engines import gossip
from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.graphs import adjacency
from outagefl.rules.gossip import sfg
from outagefl.training.local_trainer import LocalTrainer

EXAMPLE, GAMMA = (2, 0, 0), 0.5  # the article's worked example
RETURNING, NEIGHBOUR, ONLINE = "The returning client", "A neighbour of it", "Clients online under outages"
ROUNDING = 1e-3  # of models in float32


class OneStep:
    """Training of the toy: a model goes up by 1."""

    def train(self, rows: list[torch.Tensor], *_: object) -> None:
        """Add 1 to each of ``rows`` in place."""
        for row in rows:
            row.add_(1)


def play(rule: Rule, neighbours: NDArray[np.bool_], online: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Errors of the models, and effective lags, after each round of ``online`` (rounds, clients), in its shape."""
    rounds, clients = online.shape
    state, trainer = gossip.start(torch.zeros(1), clients, rounds), cast(LocalTrainer, OneStep())
    errors = np.empty(online.shape)
    for here in online:
        gossip.advance(state, rule, trainer, neighbours, here, "train_then_mix", "trains_and_mixes")
        errors[state.round - 1] = state.round - state.models[:, 0].numpy()
    return errors, state.metrics["lag"]


def check(
    rng: np.random.Generator,
    *,
    methods: Mapping[str, Mapping[str, Any]],
    method: str,
    baseline: str,
    received: str,
    topology: Mapping[str, Any],
    availability: Mapping[str, Any],
    clients: int,
    missed: int,
    rounds: int,
    repetitions: int,
) -> Checked:
    """The toy with every rule of ``methods``: one client that missed ``missed`` rounds, and all under outages.

    ``method`` and ``received``, a rule that discounts received models only, are compared with ``baseline``, uniform
    gossip. ``repetitions``: draws of graph and outages over ``rounds``; in the first graph client 0 alone is away.

    Values: panel, method, round, error (mean over repetitions and, under outages, over the clients online).
    """
    for key, name in (("method", method), ("baseline", baseline), ("received", received)):
        checks.choice(f"theory.{key}", name, methods)
    checks.whole("theory.clients", clients, 3)
    checks.whole("theory.missed", missed, 1)
    checks.whole("theory.rounds", rounds, 1)
    checks.whole("theory.repetitions", repetitions, 2)
    if any(isinstance(option, Mapping) for option in availability.values()):
        raise InputError(f"theory.availability: {availability['kind']} is made from a file; take one that is drawn")
    edges, of_graph = components.load("topology", topology)
    matrix, of_outages = components.load("availability", availability)
    graphs = [adjacency(edges(clients, rng, **of_graph), clients) for _ in range(repetitions)]
    outages = [matrix(rounds, clients, rng, **of_outages) for _ in range(repetitions)]
    if not all(online.any() for online in outages):
        raise InputError(f"theory.availability: {availability!r} leaves nobody online in {rounds} rounds")
    once = np.ones((2 * missed + 1, clients), dtype=bool)
    once[:missed, 0] = False
    beside = int(graphs[0][0].argmax())
    rules = gossip_rules(methods)
    frames, means, gap = [], {}, 0.0
    for name, rule in rules.items():
        single, _ = play(rule, graphs[0], once)
        frames += [_rows(RETURNING, name, single[:, 0]), _rows(NEIGHBOUR, name, single[:, beside])]
        played = [play(rule, graph, online) for graph, online in zip(graphs, outages, strict=True)]
        gap = max(gap, *(float(np.abs(errors - lags).max()) for errors, lags in played))
        online = np.ma.masked_where(~np.array(outages), [errors for errors, _ in played])
        means[name] = online.mean(axis=(1, 2)).filled(np.nan)
        frames.append(_rows(ONLINE, name, online.mean(axis=(0, 2)).filled(np.nan)))
    values = pd.concat(frames, ignore_index=True)
    findings = (
        *_example(),
        _exact(gap, repetitions),
        *_opening(rules, method, baseline, received, missed),
        *(_compared(name, means, baseline) for name in rules if name != baseline),
    )
    return Checked(values, findings)


def _rows(panel: str, method: str, errors: Array) -> pd.DataFrame:
    return pd.DataFrame({"panel": panel, "method": method, "round": np.arange(1, len(errors) + 1), "error": errors})


def _example() -> tuple[Finding, ...]:
    weights = receiver_weights(partial(sfg.scores, gamma=GAMMA), EXAMPLE)
    stated = (
        ("the receiver gets 1/9 of its own aggregate", 1 / 9, weights[0]),
        ("each fresh neighbour gets 4/9", 4 / 9, weights[1]),
        ("its effective lag after mixing is 2/9", 2 / 9, float(weights @ np.array(EXAMPLE))),
    )
    return tuple(
        Finding(
            f"With lags 2, 0, 0 and γ = 0.5 {statement}",
            "article, worked example",
            expected,
            computed,
            bool(np.isclose(computed, expected)),
            "by the rule that the runs use",
        )
        for statement, expected, computed in stated
    )


def _exact(gap: float, repetitions: int) -> Finding:
    return Finding(
        "Effective lag is the error of a model of one number",
        "article, the toy",
        0,
        gap,
        gap < ROUNDING,
        f"largest difference between the engine's lag and a model's error over all rules, clients, rounds and "
        f"{repetitions} draws of outages; training adds 1 to the model and to the collaborative state",
    )


def _opening(rules: Mapping[str, Rule], method: str, baseline: str, received: str, missed: int) -> tuple[Finding, ...]:
    fresh, behind = (missed, 0, 0), (missed, 1, 1)
    third = float(receiver_weights(rules[baseline], fresh)[0])
    ours = float(receiver_weights(rules[method], fresh)[0])
    protected = float(receiver_weights(rules[received], behind)[0])
    client = f"a client that returns after {missed} missed rounds to two neighbours"
    return (
        Finding(
            f"Uniform gossip gives {client} a third of the vote",
            "article, opening",
            1 / 3,
            third,
            bool(np.isclose(third, 1 / 3)),
            f"its own weight under {looks.label(baseline)}; the error after mixing is {missed * third:.3g}",
        ),
        Finding(
            f"{looks.label(method)} gives it less",
            "article, opening",
            third,
            ours,
            ours < third,
            f"its own weight, neighbours fresh; the error after mixing is {missed * ours:.3g}",
        ),
        Finding(
            "A rule that discounts only received models can give it more",
            "article, opening",
            third,
            protected,
            protected > third,
            f"its own weight under {looks.label(received)} when both neighbours are 1 round behind (our example); with "
            f"fresh ones it is {receiver_weights(rules[received], fresh)[0]:.3g}",
        ),
    )


def _compared(name: str, errors: Mapping[str, Array], baseline: str) -> Finding:
    mean, low, high = map(float, mean_interval(errors[name] - errors[baseline], len(errors) - 1))
    return Finding(
        f"Less error than {looks.label(baseline)} in the toy under outages: {looks.label(name)}",
        "our simulation of the article's toy",
        0,
        mean,
        high < 0,
        f"difference of the mean errors over rounds and clients online, {len(errors[name])} draws of graph, outages; "
        f"intervals that hold for all rules at once; {looks.label(baseline)}: {errors[baseline].mean():.3g} rounds",
        low,
        high,
    )


def draw(values: pd.DataFrame) -> Figure:
    """Error by round, a line per rule, thinner over thicker: one outage, what it does to a neighbour, everyone's."""
    methods, names = (list(dict.fromkeys(values[column])) for column in ("method", "panel"))
    with style.theme():
        figure, panels = style.panels(names, "round", "error in rounds", height=3.4, sharex=False)
        for axes, name in zip(panels, names, strict=True):
            for method, width in zip(methods, np.linspace(4.5, 1.2, len(methods)), strict=True):
                own = values[(values["panel"] == name) & (values["method"] == method)]
                axes.plot(own["round"], own["error"], linewidth=width, **looks.look(method))
            axes.set_ylim(bottom=0)
        style.legend(figure, methods)
    return figure
