"""Partitions: which images each client trains on and which it is tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.datasets import arrays
from outagefl.errors import DataError
from outagefl.inputs import storage
from outagefl.randomness import generator

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Partition:
    """Each client's images: indices into the training images and into the test images, one array a client."""

    train: tuple[Indices, ...]
    test: tuple[Indices, ...]


def create(spec: Mapping[str, Any], needs: Path, target: Path) -> None:
    """Draw the partition of ``spec`` (partition, clients, seed) for the data set ``needs``; write it to ``target``."""
    split, options = components.load("partition", spec["partition"])
    data = arrays.load(needs)
    rng = generator(spec["seed"], "partition")
    save(target, split(data.y_train, data.y_test, spec["clients"], rng, **options))


def label_counts(indices: Sequence[Indices], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """How many images of each class each client holds, (clients, classes)."""
    return np.stack([np.bincount(labels[own], minlength=classes) for own in indices])


def save(path: Path | str, partition: Partition) -> None:
    """Write a partition as one ``.npz``: per split the clients' indices end to end, and where each client's end."""
    content = {}
    for split, indices in (("train", partition.train), ("test", partition.test)):
        content[split] = np.concatenate(indices)
        content[f"{split}_ends"] = np.cumsum([len(own) for own in indices])
    storage.write(path, **content)


def load(path: Path | str) -> Partition:
    """Read a partition. Raises DataError naming the file if it is missing, damaged or inconsistent."""
    train, train_ends, test, test_ends = storage.read(path, "train", "train_ends", "test", "test_ends")
    partition = Partition(_per_client(path, train, train_ends), _per_client(path, test, test_ends))
    if len(partition.train) != len(partition.test):
        raise DataError(
            f"{path}: training images of {len(partition.train)} clients, test images of {len(partition.test)}"
        )
    return partition


def _per_client(path: Path | str, indices: Indices, ends: Indices) -> tuple[Indices, ...]:
    if not (indices.ndim == ends.ndim == 1 and indices.dtype == ends.dtype == np.int64 and len(ends)):
        raise DataError(f"{path}: a partition holds one-dimensional arrays of 64-bit integers, at least one client's")
    if ends[-1] != len(indices) or np.diff(ends, prepend=0).min() < 0:
        raise DataError(f"{path}: the clients' ends do not divide its {len(indices)} indices")
    return tuple(np.split(indices, ends[:-1]))
