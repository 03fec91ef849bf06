"""Synchronous gossip under outages (SFG article): online clients train and mix, all of them at once.

The order within a round is an option. ``train_then_mix`` is the article's; a round then ends with averaged models.
Under ``mix_then_train`` it ends with models that have just been trained on their own data, and these are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from outagefl import components
from outagefl.datasets.arrays import ImageData
from outagefl.engines.checks import check_availability, check_edges, check_partition
from outagefl.engines.metrics import tidy
from outagefl.inputs.graphs import adjacency
from outagefl.inputs.partitions import Partition
from outagefl.rules.gossip_view import GossipView, normalise
from outagefl.training.devices import resolve
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer

METRICS = ("accuracy", "loss", "online", "lag", "age", "self_weight", "neighbours")
COLUMNS = 1 << 16  # parameters mixed at a time: bounds the memory of the product

Rule = Callable[[GossipView], NDArray[np.float64]]


@dataclass
class GossipState:
    """Everything a run carries from one round to the next; N clients, d parameters, T rounds.

    models: float32 (N, d). lag, age: float64 (N,), in rounds. results: float64 (2, N), accuracy and loss of each client
    at its last evaluation, out of date where ``changed``, bool (N,). rounds_online: int64 (N,), how many rounds each
    client was online in. metrics: name → float64 (T, N), NaN where not measured. round: the last round done.
    """

    models: torch.Tensor
    lag: NDArray[np.float64]
    age: NDArray[np.float64]
    results: NDArray[np.float64]
    changed: NDArray[np.bool_]
    rounds_online: NDArray[np.int64]
    metrics: dict[str, NDArray[np.float64]]
    round: int = 0


def start(row: torch.Tensor, clients: int, rounds: int) -> GossipState:
    """The state before round 1: every client holds the same model ``row`` (d,), with lag and age 0."""
    return GossipState(
        models=row.repeat(clients, 1),
        lag=np.zeros(clients),
        age=np.zeros(clients),
        results=np.full((2, clients), np.nan),
        changed=np.ones(clients, dtype=bool),
        rounds_online=np.zeros(clients, dtype=np.int64),
        metrics={name: np.full((rounds, clients), np.nan) for name in METRICS},
    )


def candidates(neighbours: NDArray[np.bool_], online: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """C_i as rows of a bool (N, N): every client itself, and for online ones their online neighbours."""
    return (neighbours & np.outer(online, online)) | np.eye(len(online), dtype=bool)


def mix(models: torch.Tensor, weights: NDArray[np.float64], online: NDArray[np.bool_]) -> None:
    """x_i ← Σ_j w_ij x_j for all online receivers at once, in place; the rows of offline clients are not touched."""
    receivers = torch.from_numpy(np.flatnonzero(online)).to(models.device)
    matrix = torch.from_numpy(weights[np.ix_(online, online)]).to(models)
    for columns in models.split(COLUMNS, dim=1):
        columns[receivers] = matrix @ columns[receivers]


def advance(
    state: GossipState,
    rule: Rule,
    trainer: LocalTrainer,
    neighbours: NDArray[np.bool_],
    online: NDArray[np.bool_],
    order: str,
) -> None:
    """Play the next round: train and mix in this order or the other, and update lag and age.

    Weights depend on the lags and ages from before the round.

    An online client's lag becomes the mean of its candidates' lags under the rule's own weights; training does not
    erase it. An offline client's grows by 1.
    """
    state.round += 1
    if order == "train_then_mix":
        _train(state, trainer, online)
    view = GossipView(candidates(neighbours, online), state.lag, state.age)
    weights = normalise(rule(view), view.candidates)
    mix(state.models, weights, online)
    if order == "mix_then_train":
        _train(state, trainer, online)
    lag = np.where(online, weights @ state.lag, state.lag + 1)
    _record(state, online=online, lag=lag, age=state.age)
    own, others = weights.diagonal(), view.candidates.sum(axis=1) - 1
    _record(state, self_weight=np.where(online, own, np.nan), neighbours=np.where(online, others, np.nan))
    state.lag, state.age = lag, np.where(online, 0.0, state.age + 1)
    state.changed |= online
    state.rounds_online += online


def _train(state: GossipState, trainer: LocalTrainer, online: NDArray[np.bool_]) -> None:
    clients = np.flatnonzero(online)
    trainer.train([state.models[i] for i in clients], clients, state.round, state.rounds_online[online])


def evaluate(state: GossipState, trainer: LocalTrainer) -> None:
    """Measure every client's accuracy and loss; a model unchanged since its last evaluation keeps its results."""
    clients = np.flatnonzero(state.changed)
    state.results[:, clients] = trainer.evaluate(state.models, clients, state.round)
    state.changed[:] = False
    _record(state, accuracy=state.results[0], loss=state.results[1])


def _record(state: GossipState, **values: NDArray[Any]) -> None:
    for name, value in values.items():
        state.metrics[name][state.round - 1] = value


def run(
    spec: Mapping[str, Any],
    data: ImageData,
    partition: Partition,
    edges: NDArray[np.int64],
    available: NDArray[np.bool_],
    report: Callable[[int, float], None],
    device: str,
) -> pd.DataFrame:
    """The metrics of one run, as laid out by ``outagefl.engines.metrics.tidy``; time = round.

    ``spec``: a resolved run spec; ``edges``: (E, 2), undirected; ``available``: bool (T, N); ``report``: called with
    the round and the mean accuracy over all clients at every evaluation; ``device``: cpu, cuda or auto.

    Metrics: accuracy (fraction of the client's own test images) and loss (cross-entropy, nats) in every
    ``evaluation.every``-th round and the last; in every round online (0 or 1), lag (after the round), age (rounds
    missed before it) and, for online clients, self_weight and neighbours (the number of those online).

    Raises InputError for inputs that do not fit the spec and TrainingError when training diverges. The same spec gives
    bit-identical metrics on one machine as long as torch's number of threads is the same.
    """
    rounds, clients, seed = spec["rounds"], spec["clients"], spec["seed"]
    check_availability(available, rounds, clients)
    check_edges(edges, clients)
    check_partition(partition, data, clients)
    head = spec.get("head_init", "kaiming")
    module = initial_model(spec["model"], data.x_train.shape[1:], len(data.classes), seed, head)
    trainer = LocalTrainer(module, data, partition, seed, resolve(device), **spec["training"])
    scores, options = components.load("gossip rule", spec["rule"])
    neighbours = adjacency(edges, clients)
    state = start(trainer.model.row(), clients, rounds)
    while state.round < rounds:
        advance(state, partial(scores, **options), trainer, neighbours, available[state.round], spec["order"])
        if state.round % spec["evaluation"]["every"] == 0 or state.round == rounds:
            evaluate(state, trainer)
            report(state.round, float(state.results[0].mean()))
    return tidy(state.metrics, np.arange(1.0, rounds + 1))
