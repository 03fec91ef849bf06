"""The network of event-driven gossip in virtual time (DFL-AA paper, Algorithm 1): clocks, lossy messages, inboxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from outagefl.randomness import generator
from outagefl.rules.inbox_view import InboxView, Memory
from outagefl.rules.local_fill import fill, merge
from outagefl.training.local_trainer import LocalTrainer

Floats = NDArray[np.float64]
Channel = Callable[[int, float, np.random.Generator], NDArray[np.bool_]]
Rule = Callable[[InboxView, Memory], Floats]


@dataclass(frozen=True)
class Message:
    """What a node has of its in-neighbour's newest message: the model sent, (d,), and which chunks of it, (K,)."""

    sent: Tensor
    arrived: NDArray[np.bool_]
    completeness: float
    generated_at: float


@dataclass(frozen=True)
class Network:
    """Who sends to whom over links that lose what, and how a message travels; n nodes.

    targets: of every node, whom it sends to, and each link's loss rate. ``channel(chunks, loss, rng)`` tells which
    chunks arrive. chunk: numbers in a chunk. length: how many numbers of a row travel. fill_at: when missing chunks are
    filled from the receiver's model, at its ``aggregation`` (paper) or at the ``reception`` (released code).
    """

    targets: tuple[dict[int, float], ...]
    channel: Channel
    chunk: int
    length: int
    fill_at: str
    seed: int

    @property
    def chunks(self) -> int:
        """K, the number of chunks in a message."""
        return -(-self.length // self.chunk)

    @cached_property
    def lossy(self) -> bool:
        """Whether any link loses chunks."""
        return any(loss > 0 for links in self.targets for loss in links.values())


@dataclass
class EventState:
    """Everything a run carries from one event to the next; n nodes, rows of d numbers.

    models: what each node holds since its last aggregation, float32 (n, d). optimiser: its optimiser's state,
    (n, s, p). trained: results of the local work that the next activation begins with, where they are known already.
    activations: how often each node has been active, int64 (n,). inboxes: of each node, sender → newest message.
    receptions: of each node, sender and completeness of all messages since its last aggregation. memory: the rule's.
    """

    models: Tensor
    optimiser: Tensor
    memory: Memory
    activations: NDArray[np.int64]
    inboxes: list[dict[int, Message]]
    receptions: list[list[tuple[int, float]]]
    trained: dict[int, Tensor] = field(default_factory=dict)


def start(row: Tensor, optimiser: Tensor, memory: Memory) -> EventState:
    """The state before the first event: every node holds the same model ``row`` (d,)."""
    nodes = len(optimiser)
    inboxes: list[dict[int, Message]] = [{} for _ in range(nodes)]
    return EventState(
        row.repeat(nodes, 1), optimiser, memory, np.zeros(nodes, dtype=np.int64), inboxes, [[] for _ in inboxes]
    )


def events(intervals: Floats, done: NDArray[np.int64] | None = None) -> Iterator[tuple[float, int]]:
    """Times and nodes of all activations: each node at 0 and after every interval of its own; ties go to the lowest.

    ``done``: how many of each node's are over, int64 (n,); none by default.
    """
    counts = [0] * len(intervals) if done is None else done.tolist()
    clock = [(float(intervals[node]) * count, node, count) for node, count in enumerate(counts)]
    heapify(clock)
    while True:
        time, node, count = heappop(clock)
        yield time, node
        heappush(clock, (float(intervals[node]) * (count + 1), node, count + 1))


def work(state: EventState, trainer: LocalTrainer, node: int, pending: Callable[[int], bool]) -> Tensor:
    """The node's model after its local work, (d,).

    A node's work depends on nothing but its own state since its last aggregation. So when one result is needed and not
    known, the work of all nodes that are ``pending`` is done together, if the trainer stacks them; if not, results
    known too early would only take memory.
    """
    if node not in state.trained:
        others = filter(pending, range(len(state.models))) if trainer.stacks else ()
        nodes = np.array(sorted({node, *others} - state.trained.keys()))
        rows, done = [state.models[i].clone() for i in nodes], state.activations[nodes]
        trainer.train(rows, nodes, done + 1, done, [state.optimiser[i] for i in nodes])
        state.trained.update(zip(nodes.tolist(), rows, strict=True))
    return state.trained.pop(node)


def send(state: EventState, network: Network, node: int, row: Tensor, time: float) -> None:
    """Send the model ``row`` to all out-neighbours; what arrives of it replaces the node's older message."""
    for target, loss in network.targets[node].items():
        rng = generator(network.seed, "channel", node, target, int(state.activations[node]))
        arrived = network.channel(network.chunks, loss, rng)
        completeness = float(arrived.mean())
        state.receptions[target].append((node, completeness))
        sent, flags = row[: network.length], arrived
        if network.fill_at == "reception":
            own = state.models[target][: network.length]
            sent, flags = fill(own, sent, arrived, network.chunk), np.ones_like(arrived)
        state.inboxes[target][node] = Message(sent, flags, completeness, time)


def aggregate(state: EventState, network: Network, rule: Rule, node: int, row: Tensor) -> None:
    """Merge the node's inbox into its model ``row`` under the rule; the inbox stays as it is."""
    entries = dict(sorted(state.inboxes[node].items()))
    view = InboxView(
        receiver=node,
        senders=np.array(list(entries), dtype=np.int64),
        completeness=np.array([message.completeness for message in entries.values()]),
        generated_at=np.array([message.generated_at for message in entries.values()]),
        receptions=tuple(state.receptions[node]),
        out_neighbours=np.array(sorted(network.targets[node]), dtype=np.int64),
        lossy=network.lossy,
        rng=generator(network.seed, "aggregation", node, int(state.activations[node])),
    )
    arrived = np.array([message.arrived for message in entries.values()], dtype=bool).reshape(-1, network.chunks)
    sent = [message.sent for message in entries.values()]
    length, new = network.length, state.models[node]
    merge(row[:length], sent, arrived, rule(view, state.memory), network.chunk, out=new[:length])
    new[length:] = row[length:]
    state.receptions[node].clear()


def activate(
    state: EventState,
    network: Network,
    rule: Rule,
    trainer: LocalTrainer,
    node: int,
    time: float,
    pending: Callable[[int], bool],
) -> None:
    """One event: the node works, sends what it has learnt, aggregates its inbox and will be due again."""
    row = work(state, trainer, node, pending)
    send(state, network, node, row, time)
    aggregate(state, network, rule, node, row)
    state.activations[node] += 1


def play(
    state: EventState, network: Network, rule: Rule, trainer: LocalTrainer, intervals: Floats, horizon: float
) -> Iterator[float]:
    """Play all events up to and at the ``horizon`` but those done; yields the time of each before it happens."""
    for time, node in events(intervals, state.activations):
        yield time
        if time > horizon:
            return

        def pending(other: int) -> bool:
            return bool(intervals[other] * state.activations[other] <= horizon)

        activate(state, network, rule, trainer, node, time, pending)
