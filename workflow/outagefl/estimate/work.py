"""What a run does, counted from its spec and inputs without training: batches, evaluated images, mixed models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from outagefl.datasets.arrays import ImageData
from outagefl.engines.gossip import roles
from outagefl.engines.schedule import due
from outagefl.inputs.partitions import Partition
from outagefl.training.feed import Feed
from outagefl.training.images import ImageLoader
from outagefl.training.options import TrainingOptions

Array = NDArray[Any]


@dataclass(frozen=True)
class Work:
    """The parts of a run that take time.

    steps: batches trained on. images: evaluated, counted once for each model. turns: rounds, or activations of a node
    where virtual time is what passes. rows: models that go into others, each as often as it does. values: rows of the
    table of metrics, at most. A rule's own evaluations (gfedavg's) are left out.
    """

    steps: int
    images: int
    turns: int
    rows: int
    values: int


def count(spec: Mapping[str, Any], inputs: Mapping[str, Any]) -> Work:
    """The work of one run; ``inputs``: those it ``NEEDS``, loaded."""
    return COUNT[spec["engine"]](spec, **inputs)


def batches(spec: Mapping[str, Any], data: ImageData, partition: Partition) -> NDArray[np.int64]:
    """How many batches each client trains on in a round, (clients,)."""
    options = TrainingOptions(**spec["training"])
    feed = Feed(data, partition, spec["seed"], options, ImageLoader(data, torch.device("cpu")))
    return np.array([feed.steps(client) for client in range(spec["clients"])], dtype=np.int64)


def gossip(
    spec: Mapping[str, Any], dataset: ImageData, partition: Partition, topology: Array, availability: Array
) -> Work:
    """Synchronous gossip: an evaluation measures the clients that were online since the one before."""
    rounds, clients = availability.shape
    before = np.vstack([np.ones((1, clients), dtype=bool), availability[:-1]])
    trains, mixes = roles(availability, before, spec["returning"])
    evaluated = [n for n in range(1, rounds + 1) if due(n, rounds, every=spec["evaluation"]["every"])]
    changed = np.logical_or.reduceat(availability, [0, *evaluated[:-1]])
    changed[0] = True
    own_images = np.array([len(own) for own in partition.test])
    mean = clients + 1
    told = availability.sum() + availability.any(axis=1).sum()
    return Work(
        steps=int(trains.sum(axis=0) @ batches(spec, dataset, partition)),
        images=int((changed @ own_images).sum()),
        turns=rounds,
        rows=int(mixes.sum() + 2 * (mixes[:, topology[:, 0]] & mixes[:, topology[:, 1]]).sum()),
        values=int(3 * rounds * mean + 2 * told + 2 * len(evaluated) * mean),
    )


def server(spec: Mapping[str, Any], dataset: ImageData, partition: Partition, availability: Array) -> Work:
    """Client–server rounds: an evaluation measures the global model on the test images and some training images."""
    rounds = len(availability)
    schedule = dict(spec["evaluation"])
    images = len(dataset.y_train)
    train_images = min(schedule.pop("train_images") or images, images)
    evaluations = sum(due(n, rounds, **schedule) for n in range(1, rounds + 1))
    return Work(
        steps=int(availability.sum(axis=0) @ batches(spec, dataset, partition)),
        images=evaluations * (len(dataset.y_test) + train_images),
        turns=rounds,
        rows=int(availability.sum()),
        values=rounds + 6 * evaluations + 2,
    )


def events(spec: Mapping[str, Any], dataset: ImageData, partition: Partition, topology: Array, speeds: Array) -> Work:
    """Event-driven gossip: an evaluation measures every node's model on all test images."""
    horizon, nodes, every = spec["horizon"], spec["clients"], spec["evaluation"]["every"]
    activations = np.floor(horizon / speeds).astype(np.int64) + 1
    # by the clock of events every evaluation after the first begins a second early
    evaluations = int(horizon // every) if spec["evaluation"]["clock"] == "seconds" else int((horizon + 1) // every)
    received = np.bincount(topology[:, 1], minlength=nodes)
    return Work(
        steps=int(activations @ batches(spec, dataset, partition)),
        images=evaluations * nodes * len(dataset.y_test),
        turns=int(activations.sum()),
        rows=int(activations @ (received + 1)),
        values=evaluations * (4 * (nodes + 1) + 1),
    )


COUNT: dict[str, Callable[..., Work]] = {"gossip": gossip, "server": server, "events": events}
NEEDS = {
    "gossip": ("dataset", "partition", "topology", "availability"),
    "server": ("dataset", "partition", "availability"),
    "events": ("dataset", "partition", "topology", "speeds"),
}
