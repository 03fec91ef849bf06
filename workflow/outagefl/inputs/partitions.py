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
    mix: NDArray[np.float64] | None = None  # (clients, classes), rows sum to 1: the label mix each client drew
    held: NDArray[np.int64] | None = None  # (clients, classes): how many training images of each class it has

    def realised_mix(self) -> NDArray[np.float64] | None:
        """Each client's label mix as far as whole images allow, (clients, classes)."""
        return None if self.held is None else self.held / self.held.sum(axis=1, keepdims=True)


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Draw the partition of ``spec`` (partition, clients, seed) for the ``dataset`` it needs and write it."""
    split, options = components.load("partition", spec["partition"])
    data = arrays.load(needs["dataset"])
    rng = generator(spec["seed"], "partition")
    save(target, split(data, spec["clients"], rng, **options))


def label_counts(indices: Sequence[Indices], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """How many images of each class each client holds, (clients, classes)."""
    return np.stack([np.bincount(labels[own], minlength=classes) for own in indices])


def save(path: Path | str, partition: Partition) -> None:
    """Write a partition as one ``.npz``: per split the clients' indices end to end, and where each client's end.

    What is not known of the label mixes is an empty array there.
    """
    content: dict[str, NDArray[Any]] = {
        "mix": np.zeros((0, 0)) if partition.mix is None else partition.mix,
        "held": np.zeros((0, 0), dtype=np.int64) if partition.held is None else partition.held,
    }
    for split, indices in (("train", partition.train), ("test", partition.test)):
        content[split] = np.concatenate(indices)
        content[f"{split}_ends"] = np.cumsum([len(own) for own in indices])
    storage.write(path, **content)


def load(path: Path | str) -> Partition:
    """Read a partition. Raises DataError naming the file if it is missing, damaged or inconsistent."""
    train, train_ends, test, test_ends, mix, held = storage.read(
        path, "train", "train_ends", "test", "test_ends", "mix", "held"
    )
    partition = Partition(
        _per_client(path, train, train_ends),
        _per_client(path, test, test_ends),
        mix if mix.size else None,
        held if held.size else None,
    )
    for name, table, dtype in (("mix", partition.mix, np.float64), ("held", partition.held, np.int64)):
        if table is not None and (table.ndim != 2 or table.dtype != dtype or len(table) != len(partition.train)):
            raise DataError(
                f"{path}: expected {name} as {np.dtype(dtype)} of {len(partition.train)} clients by classes"
            )
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
