"""Synchronous gossip under outages (SFG article): online clients train and mix, all of them at once.

The order within a round is an option. ``train_then_mix`` is the article's; a round then ends with averaged models.
Under ``mix_then_train`` it ends with models that have just been trained on their own data, and these are measured.

Another option is what a returning client, online now and offline in the round before, does in its first round back. It
``trains_and_mixes`` as everyone does; or it ``only_mixes``, and its model is a candidate as it was left; or it
``only_trains``, and is no candidate for others nor they for it. Before round 1 everyone counts as online.
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
from outagefl.engines.checkpoint import NONE, Checkpoint
from outagefl.engines.checks import check_availability, check_edges, check_partition
from outagefl.engines.metrics import tidy
from outagefl.engines.mixing import mix
from outagefl.engines.schedule import due
from outagefl.inputs.graphs import adjacency
from outagefl.inputs.partitions import Partition
from outagefl.rules.gossip_view import GossipView, normalise
from outagefl.training.devices import resolve
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import trainer_class

METRICS = ("accuracy", "loss", "online", "lag", "age", "self_weight", "neighbours")

Rule = Callable[[GossipView], NDArray[np.float64]]


@dataclass
class GossipState:
    """Everything a run carries from one round to the next; N clients, d parameters, T rounds.

    models: float32 (N, d). lag, age: float64 (N,), in rounds. online: bool (N,), who was online in the last round.
    gap_sum: float64 (N,), rounds, and gap_count: int64 (N,), the gaps in lag of the candidates each client has met, one
    of the freshest of each round left out. results: float64 (2, N), accuracy and loss of each client at its last
    evaluation, out of date where ``changed``, bool (N,). rounds_trained: int64 (N,), how many rounds each client has
    trained in. metrics: name → float64 (T, N), NaN where not measured. round: the last round done.
    """

    models: torch.Tensor
    lag: NDArray[np.float64]
    age: NDArray[np.float64]
    online: NDArray[np.bool_]
    gap_sum: NDArray[np.float64]
    gap_count: NDArray[np.int64]
    results: NDArray[np.float64]
    changed: NDArray[np.bool_]
    rounds_trained: NDArray[np.int64]
    metrics: dict[str, NDArray[np.float64]]
    round: int = 0


def start(row: torch.Tensor, clients: int, rounds: int) -> GossipState:
    """The state before round 1: every client holds the same model ``row`` (d,), with lag and age 0, and is online."""
    return GossipState(
        models=row.repeat(clients, 1),
        lag=np.zeros(clients),
        age=np.zeros(clients),
        online=np.ones(clients, dtype=bool),
        gap_sum=np.zeros(clients),
        gap_count=np.zeros(clients, dtype=np.int64),
        results=np.full((2, clients), np.nan),
        changed=np.ones(clients, dtype=bool),
        rounds_trained=np.zeros(clients, dtype=np.int64),
        metrics={name: np.full((rounds, clients), np.nan) for name in METRICS},
    )


def roles(
    online: NDArray[np.bool_], online_before: NDArray[np.bool_], returning: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who trains and who mixes, bool (N,) each, given who is online now and was in the round before."""
    settled = online & online_before
    trains = settled if returning == "only_mixes" else online
    mixes = settled if returning == "only_trains" else online
    return trains, mixes


def candidates(neighbours: NDArray[np.bool_], mixes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """C_i as rows of a bool (N, N): every client itself, and for those who mix their neighbours who do, too."""
    return (neighbours & np.outer(mixes, mixes)) | np.eye(len(mixes), dtype=bool)


def mean_gap(state: GossipState) -> NDArray[np.float64]:
    """The mean of the gaps each client has observed (N,), in rounds; infinite where there is none."""
    mean = np.full(len(state.gap_sum), np.inf)
    np.divide(state.gap_sum, state.gap_count, out=mean, where=state.gap_count > 0)
    return mean


def advance(
    state: GossipState,
    rule: Rule,
    trainer: LocalTrainer,
    neighbours: NDArray[np.bool_],
    online: NDArray[np.bool_],
    order: str,
    returning: str,
) -> None:
    """Play the next round: train and mix in this order or the other, and update lag and age.

    Weights depend on the lags and ages from before the round.

    An online client's lag becomes the mean of its candidates' lags under the rule's own weights; training does not
    erase it. An offline client's grows by 1. The age of whoever trains becomes 0; that of others grows by 1.
    """
    state.round += 1
    trains, mixes = roles(online, state.online, returning)
    if order == "train_then_mix":
        _train(state, trainer, trains)
    view = GossipView(candidates(neighbours, mixes), state.lag, state.age, trains, mean_gap(state))
    weights = normalise(rule(view), view.candidates)
    mix(state.models, weights, mixes)
    if order == "mix_then_train":
        _train(state, trainer, trains)
    lag = np.where(online, weights @ state.lag, state.lag + 1)
    _record(state, online=online, lag=lag, age=state.age)
    own, others = weights.diagonal(), view.candidates.sum(axis=1) - 1
    _record(state, self_weight=np.where(online, own, np.nan), neighbours=np.where(online, others, np.nan))
    state.gap_sum += view.gap(view.lag).sum(axis=1, where=view.candidates)
    state.gap_count += others
    state.lag, state.age = lag, np.where(trains, 0.0, state.age + 1)
    state.online = online
    state.changed |= online
    state.rounds_trained += trains


def _train(state: GossipState, trainer: LocalTrainer, trains: NDArray[np.bool_]) -> None:
    clients = np.flatnonzero(trains)
    trainer.train([state.models[i] for i in clients], clients, state.round, state.rounds_trained[trains])


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
    dataset: ImageData,
    partition: Partition,
    topology: NDArray[np.int64],
    availability: NDArray[np.bool_],
    report: Callable[[int, float], None],
    device: str,
    probability: NDArray[np.float64] | None = None,
    checkpoint: Checkpoint = NONE,
) -> pd.DataFrame:
    """The metrics of one run, as laid out by ``outagefl.engines.metrics.tidy``; time = round.

    ``spec``: a resolved run spec; ``topology``: (E, 2), undirected edges; ``availability``: bool (T, N); ``report``:
    called with the round and the mean accuracy over all clients at every evaluation; ``device``: cpu, cuda or auto;
    ``probability``: what availability was drawn from, if anything; no gossip rule knows it; ``checkpoint``: where the
    run may be interrupted and go on.

    Metrics: accuracy (fraction of the client's own test images) and loss (cross-entropy, nats) in every
    ``evaluation.every``-th round and the last; in every round online (0 or 1), lag (after the round), age (rounds
    without training before it) and, for online clients, self_weight and neighbours (the number it mixes with).

    Raises InputError for inputs that do not fit the spec and TrainingError when training diverges. The same spec gives
    bit-identical metrics on one machine as long as torch's number of threads is the same.
    """
    rounds, clients, seed = spec["rounds"], spec["clients"], spec["seed"]
    check_availability(availability, rounds, clients)
    check_edges(topology, clients)
    check_partition(partition, dataset, clients, own_test=True)
    module = initial_model(spec["model"], dataset.x_train.shape[1:], len(dataset.classes), seed)
    on = resolve(device)
    trainer = trainer_class(module, on)(module, dataset, partition, seed, on, **spec["training"])
    scores, options = components.load("gossip rule", spec["rule"])
    neighbours = adjacency(topology, clients)
    state = checkpoint.resume(GossipState) or start(trainer.model.row(), clients, rounds)
    rule = partial(scores, **options)
    while state.round < rounds:
        online = availability[state.round]
        advance(state, rule, trainer, neighbours, online, spec["order"], spec["returning"])
        if due(state.round, rounds, every=spec["evaluation"]["every"]):
            evaluate(state, trainer)
            report(state.round, float(state.results[0].mean()))
        checkpoint.offer(state.round, state)
    return tidy(state.metrics, np.arange(1.0, rounds + 1))
