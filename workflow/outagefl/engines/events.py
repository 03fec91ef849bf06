"""Event-driven gossip over lossy links (DFL-AA paper): every node acts by a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from outagefl import components
from outagefl.datasets.arrays import ImageData
from outagefl.engines.checkpoint import NONE, Checkpoint
from outagefl.engines.checks import check_edges, check_partition
from outagefl.engines.event_simulation import EventState, Message, Network, play, start
from outagefl.engines.metrics import tidy
from outagefl.errors import InputError
from outagefl.inputs.partitions import Partition
from outagefl.rules.age_and_reception import RECEPTION_RATES
from outagefl.training.devices import resolve
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import trainer_class

Floats = NDArray[np.float64]


def run(
    spec: Mapping[str, Any],
    dataset: ImageData,
    partition: Partition,
    topology: NDArray[np.int64],
    links: Floats,
    speeds: Floats,
    report: Callable[[int, float], None],
    device: str,
    checkpoint: Checkpoint = NONE,
) -> pd.DataFrame:
    """The metrics of one run, as laid out by ``outagefl.engines.metrics.tidy``; a round is an evaluation.

    ``spec``: a resolved run spec; ``topology``: directed edges (E, 2), [source, target]; ``links``: their loss rates,
    (E,); ``speeds``: seconds between activations, (n,); ``report``: called with the evaluation and the mean accuracy
    over all nodes; ``device``: cpu, cuda or auto; ``checkpoint``: where the run may be interrupted and go on. Times are
    virtual seconds.

    Metrics: of every node accuracy (fraction of the common test images), loss (cross-entropy, nats), age (mean seconds
    since the messages in its inbox were generated) and, under a rule that estimates them, reception_rate (of the link
    from its lowest-numbered in-neighbour); of all consensus_distance, (1/n) Σ ‖w_i − w̄‖².

    Raises InputError for inputs that do not fit the spec and TrainingError when training diverges.
    """
    nodes, seed, horizon = spec["clients"], spec["seed"], spec["horizon"]
    check_edges(topology, nodes)
    check_partition(partition, dataset, nodes, own_test=False)
    if links.shape != (len(topology),) or speeds.shape != (nodes,):
        raise InputError(
            f"links and speeds: found {links.shape} and {speeds.shape}, expected {(len(topology),)} and {(nodes,)}"
        )
    module = initial_model(spec["model"], dataset.x_train.shape[1:], len(dataset.classes), seed, scheme=spec["init"])
    on = resolve(device)
    trainer = trainer_class(module, on, small=True)(module, dataset, partition, seed, on, **spec["training"])
    weights, options = components.load("events rule", spec["rule"])
    memory = import_module(weights.__module__).memory(nodes, **options)
    row = trainer.model.row()
    state, measured = checkpoint.resume(EventState, Message, Measured) or (
        start(row, trainer.optimiser_states(nodes), memory),
        Measured(),
    )
    watch = Watch(trainer, topology, horizon, report, measured, **spec["evaluation"])
    network = make_network(spec, topology, links, len(row) if spec["exchange"] == "all" else trainer.model.parameters)
    for time in play(state, network, partial(weights, **options), trainer, speeds, horizon):
        checkpoint.offer(len(measured.times), (state, measured))
        watch.before(time, state)
    return watch.table()


def make_network(spec: Mapping[str, Any], topology: NDArray[np.int64], links: Floats, length: int) -> Network:
    """The network of a spec; ``length``: how many numbers of a row travel."""
    targets: tuple[dict[int, float], ...] = tuple({} for _ in range(spec["clients"]))
    for (source, target), loss in zip(topology.tolist(), links.tolist(), strict=True):
        targets[source][target] = loss
    received, options = components.load("channel", spec["channel"])
    return Network(targets, partial(received, **options), spec["chunk"], length, spec["fill_at"], spec["seed"])


@dataclass
class Measured:
    """What a run has measured: when, and the metrics of each time, name → (n,) or (). previous: the last event's time.

    All times are virtual seconds.
    """

    previous: float = 0.0
    times: list[float] = field(default_factory=list)
    metrics: list[dict[str, Floats]] = field(default_factory=list)


class Watch:
    """Evaluates the nodes as virtual time goes by."""

    def __init__(
        self,
        trainer: LocalTrainer,
        topology: NDArray[np.int64],
        horizon: float,
        report: Callable[[int, float], None],
        measured: Measured,
        *,
        every: float,
        clock: str,
    ) -> None:
        """Evaluate by one ``clock`` or another, beside what has been ``measured``, and note it there.

        ``seconds``: every ``every`` seconds, after all events up to then. ``events``, as in the released code: after
        the first event that is so much later than the last evaluation.
        """
        self._trainer, self._horizon, self._report = trainer, horizon, report
        self._every, self._clock = every, clock
        self._measured = measured
        self._first = [min(sources, default=-1) for sources in _sources(topology)]

    @property
    def _due(self) -> float:
        """When the next evaluation is due."""
        first = 0.0 if self._clock == "seconds" else -1.0
        return (self._measured.times or [first])[-1] + self._every

    def before(self, time: float, state: EventState) -> None:
        """Evaluate what is due before an event at ``time``; called for every event, before it happens."""
        if self._clock == "events" and self._measured.previous >= self._due:
            self._evaluate(self._measured.previous, state)
        while self._clock == "seconds" and self._due < time and self._due <= self._horizon:
            self._evaluate(self._due, state)
        self._measured.previous = time

    def table(self) -> pd.DataFrame:
        """All that was measured."""
        measured = self._measured.metrics
        metrics = {name: np.stack([one[name] for one in measured]) for name in measured[0]}
        return tidy(metrics, np.array(self._measured.times))

    def _evaluate(self, time: float, state: EventState) -> None:
        data = self._trainer.data
        results = self._trainer.measure_many(list(state.models), data.x_test, data.y_test).cpu().numpy()
        self._measured.times.append(time)
        self._measured.metrics.append(
            {
                "accuracy": results[:, 0],
                "loss": results[:, 1],
                "age": ages(state, time),
                "reception_rate": self._rates(state),
                "consensus_distance": np.array(consensus_distance(state.models[:, : self._trainer.model.parameters])),
            }
        )
        self._report(len(self._measured.times), float(results[:, 0].mean()))

    def _rates(self, state: EventState) -> Floats:
        if RECEPTION_RATES not in state.memory:
            return np.full(len(state.models), np.nan)
        rates = state.memory[RECEPTION_RATES].numpy()
        return np.array([rates[node, first] if first >= 0 else np.nan for node, first in enumerate(self._first)])


def _sources(topology: NDArray[np.int64]) -> list[list[int]]:
    """The in-neighbours of every node."""
    return [topology[topology[:, 1] == node, 0].tolist() for node in range(int(topology.max(initial=-1)) + 1)]


def ages(state: EventState, time: float) -> Floats:
    """The mean age of each node's messages, virtual seconds since they were generated, (n,); NaN for an empty inbox."""
    generated = [[message.generated_at for message in inbox.values()] for inbox in state.inboxes]
    return np.array([time - np.mean(times) if times else np.nan for times in generated])


def consensus_distance(models: Tensor) -> float:
    """(1/n) Σ_i ‖w_i − w̄‖² of models (n, d), BatchNorm statistics not among them."""
    return float((models - models.mean(dim=0)).square().sum(dtype=torch.float64) / len(models))
