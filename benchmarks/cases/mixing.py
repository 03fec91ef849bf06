"""Synchronous mixing of 300 models of 600,000 parameters, everyone online: a round of gossip without training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from harness import Case
from outagefl.engines.gossip import advance, start
from outagefl.inputs.graphs import adjacency
from outagefl.inputs.topology import complete, random_regular
from outagefl.rules.gossip.metropolis import scores
from reference.gossip import mix
from reference.server import State

CLIENTS, SHAPES = 300, ((2000, 250), (250,), (398, 250), (250,))  # 600,000 parameters in four tensors
RECEIVERS = 5  # of the complete graph, which naive mixing takes minutes for


@dataclass
class Idle:
    """A trainer that trains nobody."""

    stacks = False

    def train(self, *arguments: object) -> None:
        """Leave the rows as they are."""


class Both:
    """The same models and the same graph for both."""

    def __init__(self, neighbours: NDArray[np.bool_], shapes: Sequence[tuple[int, ...]], rounds: int) -> None:
        self.clients, self.shapes = len(neighbours), shapes
        sizes = [int(np.prod(shape)) for shape in shapes]
        self.state = start(torch.zeros(sum(sizes)), self.clients, rounds)
        self.state.models.normal_(generator=torch.Generator().manual_seed(0))
        self.states = [self._as_state(row) for row in self.state.models]
        self.adjacency = neighbours
        self.neighbours = [[i, *np.flatnonzero(row)] for i, row in enumerate(neighbours)]
        degrees = neighbours.sum(axis=1)
        others = [[1 / (1 + max(degrees[i], degrees[j])) for j in own[1:]] for i, own in enumerate(self.neighbours)]
        self.weights = [[1 - sum(given), *given] for given in others]

    def _as_state(self, row: torch.Tensor) -> State:
        parts = row.clone().split([int(np.prod(shape)) for shape in self.shapes])
        return {f"layer{i}": part.view(shape) for i, (part, shape) in enumerate(zip(parts, self.shapes, strict=True))}

    def naive(self, receivers: int) -> list[State]:
        """The new models of the first receivers."""
        return mix(self.states, self.weights, self.neighbours, range(receivers))

    def ours(self) -> None:
        """A round of everybody."""
        self.state.round = 0
        trainer: Any = Idle()
        online = np.ones(self.clients, dtype=bool)
        advance(self.state, scores, trainer, self.adjacency, online, "train_then_mix", "trains_and_mixes")


def _edges(kind: str, clients: int) -> NDArray[np.bool_]:
    rng = np.random.default_rng(0)
    edges = complete.edges(clients, rng) if kind == "complete" else random_regular.edges(clients, rng, degree=4)
    return adjacency(edges, clients)


def sparse() -> Case:
    """Four neighbours each: every sum reads five models and writes one, O(edges · d)."""
    both = Both(_edges("random_regular", CLIENTS), SHAPES, 1)
    amount = (1 + 4 + 1) * 4 * both.state.models.numel()
    what = f"gossip mixing, {CLIENTS} × {both.state.models.shape[1]:,}, 4 neighbours"
    return Case(what, lambda: both.naive(CLIENTS), both.ours, "copy", amount)


def dense() -> Case:
    """Everybody with everybody: a product of matrices."""
    both = Both(_edges("complete", CLIENTS), SHAPES, 1)
    amount = 2 * CLIENTS * both.state.models.numel()
    what = f"gossip mixing, {CLIENTS} × {both.state.models.shape[1]:,}, complete graph (naive: {RECEIVERS} receivers)"
    return Case(what, lambda: both.naive(RECEIVERS), both.ours, "gemm", amount, RECEIVERS / CLIENTS)


def check() -> str:
    """Both mix to the same models."""
    for kind in ("random_regular", "complete"):
        both = Both(_edges(kind, 12), ((5, 4), (3,)), 1)
        expected = torch.stack([torch.cat([t.flatten() for t in state.values()]) for state in both.naive(12)])
        both.ours()
        torch.testing.assert_close(both.state.models, expected)
    return "equal models on both graphs"
