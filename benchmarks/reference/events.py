"""DFL-AA (its Algorithm 1): nodes that act by clocks of their own and exchange models in chunks that may be lost."""

from __future__ import annotations

import copy
import heapq
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reference.data import Loader
from reference.server import State

CHUNK, TAU, BETA, C_MIN, Q_FLOOR = 350, 5.0, 0.05, 0.1, 0.05

Losses = Callable[[int, int, int], Sequence[bool]]
"""Which of so many chunks arrive: (chunks, sender, receiver)."""


def bernoulli(loss: float) -> Losses:
    """Each chunk is lost by a draw of its own."""
    draw = random.Random(0)
    return lambda chunks, sender, receiver: [draw.random() >= loss for _ in range(chunks)]


def travelling(state: State) -> list[str]:
    """What is sent of a model: all but the counters of batch normalisation."""
    return [key for key, value in state.items() if value.is_floating_point()]


def flatten(state: State) -> Tensor:
    """A model as a vector."""
    return torch.cat([state[key].flatten() for key in travelling(state)])


def unflatten(vector: Tensor, like: State) -> State:
    """A vector as a model."""
    result, start = {}, 0
    for key in travelling(like):
        size = like[key].numel()
        result[key] = vector[start : start + size].view_as(like[key])
        start += size
    return result


def fill(own: Tensor, sent: Tensor, arrived: Sequence[bool]) -> Tensor:
    """The sent model with what was lost of it taken from the receiver's own."""
    filled = sent.clone()
    for k, ok in enumerate(arrived):
        if not ok:
            filled[k * CHUNK : (k + 1) * CHUNK] = own[k * CHUNK : (k + 1) * CHUNK]
    return filled


@dataclass
class Message:
    """A model on its way, which chunks of it arrive, and when it was sent."""

    state: State
    arrived: Sequence[bool]
    completeness: float
    time: float


@dataclass
class Node:
    """A node with its network, optimiser, data, inbox and estimates of its links' reception rates."""

    number: int
    model: nn.Module
    optimiser: torch.optim.Optimizer | None
    loader: Loader | None
    interval: float
    targets: Sequence[int]
    inbox: dict[int, Message] = field(default_factory=dict)
    rates: dict[int, float] = field(default_factory=dict)
    batches: Iterator[tuple[Tensor, Tensor]] = field(default_factory=lambda: iter(()))

    def next_batch(self) -> tuple[Tensor, Tensor]:
        """The next batch of the epoch or the first of a new one."""
        try:
            return next(self.batches)
        except StopIteration:
            assert self.loader is not None
            self.batches = iter(self.loader)
            return next(self.batches)

    def train(self, steps: int) -> None:
        """Local training."""
        assert self.optimiser is not None
        self.model.train()
        for _ in range(steps):
            x, y = self.next_batch()
            self.optimiser.zero_grad()
            cross_entropy(self.model(x), y).backward()
            self.optimiser.step()

    def receive(self, sender: int, message: Message) -> None:
        """Keep the newest message of each sender."""
        self.inbox[sender] = message
        before = self.rates.get(sender)
        c = message.completeness
        self.rates[sender] = c if before is None else (1 - BETA) * before + BETA * c

    def aggregate(self) -> None:
        """Weigh every message by its age and its link's reception rate."""
        if not self.inbox:
            return
        own = copy.deepcopy(self.model.state_dict())
        vector = flatten(own)
        newest = max(message.time for message in self.inbox.values())
        filled, weights = [], []
        for sender, message in sorted(self.inbox.items()):
            if message.completeness < C_MIN:
                continue
            filled.append(unflatten(fill(vector, flatten(message.state), message.arrived), own))
            age = newest - message.time
            weights.append(math.exp(-age / TAU) / max(self.rates[sender], Q_FLOOR))
        total = 1 + sum(weights)
        for key in travelling(own):
            own[key] /= total
            for state, weight in zip(filled, weights, strict=True):
                own[key] += weight / total * state[key]
        self.model.load_state_dict(own)


def evaluate(model: nn.Module, test: Loader) -> tuple[float, float]:
    """Accuracy and mean cross-entropy."""
    model.eval()
    correct, loss, count = 0, 0.0, 0
    with torch.no_grad():
        for x, y in test:
            logits = model(x)
            correct += int((logits.argmax(dim=1) == y).sum())
            loss += float(cross_entropy(logits, y, reduction="sum"))
            count += len(y)
    return correct / count, loss / count


def play(
    nodes: Sequence[Node],
    horizon: float,
    every: float,
    losses: Losses,
    test: Loader | None,
    work: Callable[[Node], None] = lambda node: node.train(3),
) -> list[list[tuple[float, float]]]:
    """All events up to the horizon; accuracy and loss of every node, every ``every`` seconds."""
    queue = [(0.0, node.number, 0) for node in nodes]
    heapq.heapify(queue)
    history, due = [], every
    while queue[0][0] <= horizon:
        time, number, count = heapq.heappop(queue)
        if test is not None and due < time:
            history.append([evaluate(node.model, test) for node in nodes])
            due += every
        node = nodes[number]
        work(node)
        state = copy.deepcopy(node.model.state_dict())
        chunks = math.ceil(sum(state[key].numel() for key in travelling(state)) / CHUNK)
        for target in node.targets:
            arrived = losses(chunks, number, target)
            nodes[target].receive(number, Message(state, arrived, sum(arrived) / chunks, time))
        node.aggregate()
        heapq.heappush(queue, (node.interval * (count + 1), number, count + 1))
    if test is not None:
        history.append([evaluate(node.model, test) for node in nodes])
    return history
