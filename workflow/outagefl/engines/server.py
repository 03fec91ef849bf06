"""Client–server rounds (FedSWE paper): available clients train, the server merges what they send."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from outagefl import components
from outagefl.datasets.arrays import ImageData
from outagefl.engines.checkpoint import NONE, Checkpoint
from outagefl.engines.checks import check_availability, check_partition, check_probability
from outagefl.engines.metrics import tidy
from outagefl.engines.schedule import due
from outagefl.errors import ConfigError, TrainingError, unknown
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.rules.server_round import CLIENT_MODELS, UNAMPLIFIED, Memory, ServerRound
from outagefl.training.devices import resolve
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import trainer_class

log = logging.getLogger(__name__)

METRICS = (
    "accuracy",
    "loss",
    "train_accuracy",
    "train_loss",
    "unamplified_accuracy",
    "consensus_error",
    "diverged",
    "online",
    "server_memory",
    "client_memory",
)
EVALUATED = ("global", "client_mean")

Step = Callable[[ServerRound, Memory], Tensor]


class Trainer(Protocol):
    """What the engine needs of a trainer."""

    def train(
        self, rows: Sequence[Tensor], clients: NDArray[np.int64], round_number: int, rounds_done: NDArray[np.int64]
    ) -> None:
        """Train the models ``rows`` of ``clients`` in place; ``rounds_done``: those each has trained in before."""


@dataclass
class ServerState:
    """Everything a run carries from one round to the next; m clients, d parameters, T rounds.

    model: x^t, float32 (d,). memory: what the rule remembers. trained: in how many rounds each client has trained,
    int64 (m,). metrics: name → float64 (T,), NaN where not measured. round: the last round done.
    """

    model: Tensor
    memory: Memory
    trained: NDArray[np.int64]
    metrics: dict[str, NDArray[np.float64]]
    round: int = 0

    def record(self, **values: float) -> None:
        """Write down metrics of the last round."""
        for name, value in values.items():
            self.metrics[name][self.round - 1] = value


def start(model: Tensor, memory: Memory, clients: int, rounds: int) -> ServerState:
    """The state before the first round."""
    metrics = {name: np.full(rounds, np.nan) for name in METRICS}
    return ServerState(model, memory, np.zeros(clients, dtype=np.int64), metrics)


def advance(
    state: ServerState,
    step: Step,
    trainer: Trainer,
    available: NDArray[np.bool_],
    probability: NDArray[np.float64] | None,
    learning_rate: float,
) -> None:
    """Play the next round; ``available`` and ``probability`` are (m,), ``learning_rate`` is the global one, η_g.

    Clients start from the global model, or from their own models where the rule has them keep any.
    """
    clients = np.flatnonzero(available)
    own = state.memory.get(CLIENT_MODELS)
    starts = state.model.expand(len(clients), -1) if own is None else own[torch.from_numpy(clients)]
    trained = aligned_copy(starts)
    trainer.train(list(trained), clients, state.round + 1, state.trained[clients])
    innovations = torch.sub(starts, trained, out=trained)
    seen = ServerRound(state.round, state.model, available, starts, innovations, probability, learning_rate)
    state.model = step(seen, state.memory)
    state.trained[clients] += 1
    state.round += 1
    state.record(online=available.mean())


def aligned_copy(rows: Tensor) -> Tensor:
    """A copy of rows (k, d) each of which begins at a multiple of 64 bytes.

    The last bits of some of torch's products depend on where an operand begins in memory; a client's training must not
    depend on which row it is given.
    """
    count, length = rows.shape
    copy = rows.new_empty(count, -(-length // 16) * 16)[:, :length]
    return copy.copy_(rows)


def evaluated_model(state: ServerState, which: str) -> Tensor:
    """The model that is measured: the global one (paper) or the mean of the clients' (``client_mean``, released code).

    Where clients keep no models it is the global one.
    """
    if which not in EVALUATED:
        raise ConfigError(f"evaluated: {unknown('model', which, EVALUATED)}")
    own = state.memory.get(CLIENT_MODELS)
    return state.model if own is None or which == "global" else own.mean(dim=0)


def consensus_error(models: Tensor) -> float:
    """(1/m) Σ_i ‖x_i − x̄‖² of the clients' models (m, d), one row at a time to save memory."""
    mean = models.mean(dim=0)
    return float(np.mean(torch.stack([(row - mean).square().sum(dtype=torch.float64) for row in models]).tolist()))


def memory_of(state: ServerState) -> tuple[int, float]:
    """Numbers the server holds, its model included, and numbers of its own that each client keeps between rounds."""
    own = state.memory.get(CLIENT_MODELS)
    kept = sum(tensor.numel() for name, tensor in state.memory.items() if name != CLIENT_MODELS)
    return len(state.model) + kept, 0 if own is None else own.shape[1]


def some_images(total: int, wanted: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """``wanted`` of ``total`` images at random, ascending; all of them for None or when there are fewer."""
    if wanted is None or wanted >= total:
        return np.arange(total)
    return np.sort(rng.choice(total, wanted, replace=False))


def run(
    spec: Mapping[str, Any],
    dataset: ImageData,
    partition: Partition,
    availability: NDArray[np.bool_],
    report: Callable[[int, float], None],
    device: str,
    probability: NDArray[np.float64] | None = None,
    checkpoint: Checkpoint = NONE,
) -> pd.DataFrame:
    """The metrics of one run, as laid out by ``outagefl.engines.metrics.tidy``; time = round.

    ``spec``: a resolved run spec; ``availability``: bool (T, m); ``probability``: (T, m), where it is known;
    ``report``: called with the round and the accuracy at every evaluation; ``device``: cpu, cuda or auto;
    ``checkpoint``: where the run may be interrupted and go on.

    Metrics, all of client −1. In evaluated rounds: accuracy (fraction of the test images), loss (cross-entropy, nats),
    train_accuracy and train_loss (on ``evaluation.train_images`` training images, the same in every round), and where
    clients keep models the consensus_error (1/m) Σ ‖x_i − x̄‖². In every round: online (share of the clients). Where a
    rule amplifies its progress, unamplified_accuracy, in the rounds in which it does. In the last round server_memory
    and client_memory: numbers kept between rounds by the server, and by each client beside its data.

    A run whose training diverges is a result, not an error: from that round on it is recorded as ``diverged`` (0 or 1,
    in evaluated rounds) and has the accuracy of guessing, 1 / classes.

    Raises InputError for inputs that do not fit the spec.
    """
    rounds, clients, seed = spec["rounds"], spec["clients"], spec["seed"]
    check_availability(availability, rounds, clients)
    check_probability(probability, rounds, clients)
    check_partition(partition, dataset, clients, own_test=False)
    module = initial_model(spec["model"], dataset.x_train.shape[1:], len(dataset.classes), seed, spec["head_init"])
    on = resolve(device)
    trainer = trainer_class(module, on)(module, dataset, partition, seed, on, **spec["training"])
    step, options = components.load("server rule", spec["rule"])
    memory = import_module(step.__module__).memory
    model = trainer.model.row()
    state = checkpoint.resume(ServerState) or start(model, memory(clients, model, **options), clients, rounds)
    evaluation = dict(spec["evaluation"])
    wanted = evaluation.pop("train_images")
    images = some_images(len(dataset.y_train), wanted, generator(seed, "evaluation"))
    try:
        while state.round < rounds:
            online, p = availability[state.round], None if probability is None else probability[state.round]
            advance(state, partial(step, **options), trainer, online, p, spec["server_learning_rate"])
            if (before := state.memory.pop(UNAMPLIFIED, None)) is not None:
                state.record(unamplified_accuracy=float(trainer.measure(before, dataset.x_test, dataset.y_test)[0]))
            if due(state.round, rounds, **evaluation):
                evaluate(state, trainer, spec["evaluated"], images)
                report(state.round, state.metrics["accuracy"][state.round - 1])
            checkpoint.offer(state.round, state)
    except TrainingError as error:
        log.warning("training diverged, the run counts as guessing from here on: %s", error)
        guess = 1 / len(dataset.classes)
        for state.round in [n for n in range(1, rounds + 1) if due(n, rounds, **evaluation)]:
            if np.isnan(state.metrics["accuracy"][state.round - 1]):
                state.record(accuracy=guess, train_accuracy=guess, diverged=1)
    state.round = rounds
    state.record(**dict(zip(("server_memory", "client_memory"), memory_of(state), strict=True)))
    return tidy(state.metrics, np.arange(1.0, rounds + 1))


def evaluate(state: ServerState, trainer: LocalTrainer, which: str, train_images: NDArray[np.int64]) -> None:
    """Measure the model on all test images and on some training images, and how far apart the clients' models are.

    Raises TrainingError when the model's loss is not finite.
    """
    model, data = evaluated_model(state, which), trainer.data
    accuracy, loss = trainer.measure(model, data.x_test, data.y_test).tolist()
    train_accuracy, train_loss = trainer.measure(model, data.x_train, data.y_train, train_images).tolist()
    if not np.isfinite([loss, train_loss]).all():
        raise TrainingError(f"the loss of the global model is not finite after round {state.round}")
    state.record(accuracy=accuracy, loss=loss, train_accuracy=train_accuracy, train_loss=train_loss, diverged=0)
    if CLIENT_MODELS in state.memory:
        state.record(consensus_error=consensus_error(state.memory[CLIENT_MODELS]))
