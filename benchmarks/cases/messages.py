"""Lossy messages without training: 80 nodes exchange models of the DFL-AA MLP's size and aggregate them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cases.dflaa import RULE, graph
from harness import Case
from outagefl.engines.event_simulation import EventState, Network, play, start
from outagefl.inputs.channel import bernoulli
from outagefl.inputs.speeds import classes
from outagefl.rules.inbox import dflaa
from outagefl.rules.inbox_view import Floats, InboxView, Memory
from reference import events as reference
from reference.networks import Mlp

NODES, LOSS, HORIZON = 80, 0.1, 1.0
OPTIONS: dict[str, Any] = {key: value for key, value in RULE.items() if key != "kind"}


class Adding:
    """Local work without training."""

    stacks = False

    def train(self, rows: Sequence[Tensor], nodes: object, numbers: object, done: object, states: object) -> None:
        """Add a little to every number of every row."""
        for row in rows:
            row.add_(1e-3)


def add(node: reference.Node) -> None:
    """The same for a network."""
    with torch.no_grad():
        for parameter in node.model.parameters():
            parameter.add_(1e-3)


@dataclass
class Both:
    """The same graph, speeds and losses for both."""

    merged: int = 0
    length: int = sum(parameter.numel() for parameter in Mlp().parameters())
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __post_init__(self) -> None:
        self.edges = graph(NODES)
        self.speeds = classes.seconds(NODES, self.rng, intervals=[0.5, 1.0, 2.0])

    def ours(self) -> EventState:
        """All events; counts the messages that are merged."""
        targets: tuple[dict[int, float], ...] = tuple({} for _ in range(NODES))
        for source, target in self.edges.tolist():
            targets[source][target] = LOSS
        network = Network(targets, bernoulli.received, reference.CHUNK, self.length, "aggregation", seed=0)
        state = start(torch.zeros(self.length), torch.zeros(NODES, 0), dflaa.memory(NODES, **OPTIONS))
        self.merged = 0
        trainer: Any = Adding()

        def rule(view: InboxView, memory: Memory) -> Floats:
            self.merged += len(view.senders)
            return dflaa.weights(view, memory, **OPTIONS)

        for _ in play(state, network, rule, trainer, self.speeds, HORIZON):
            pass
        return state

    def naive(self) -> list[reference.Node]:
        """All events."""
        nodes = [
            reference.Node(i, Mlp(), None, None, float(self.speeds[i]), self.edges[self.edges[:, 0] == i, 1].tolist())
            for i in range(NODES)
        ]
        reference.play(nodes, HORIZON, HORIZON, reference.bernoulli(LOSS), None, add)
        return nodes


def case() -> Case:
    """Every model and every message has to be read once, and the new model written."""
    both = Both()
    activations = int(both.ours().activations.sum())
    amount = 4 * both.length * (both.merged + 2 * activations)
    what = f"lossy messages, {NODES} nodes of {both.length:,}, {activations} activations, {both.merged} merged messages"
    return Case(what, both.naive, both.ours, "copy", amount)
