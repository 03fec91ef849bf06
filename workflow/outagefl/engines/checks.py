"""Whether the inputs of a run fit its spec and each other; each check raises InputError where they do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.datasets.arrays import ImageData
from outagefl.errors import InputError
from outagefl.inputs.partitions import Partition


def check_availability(available: NDArray[np.bool_], rounds: int, clients: int) -> None:
    """``available`` must be bool (rounds, clients)."""
    if available.shape != (rounds, clients) or available.dtype != np.bool_:
        raise InputError(
            f"availability: found {available.dtype} of shape {available.shape}, "
            f"expected bool of shape {(rounds, clients)} (rounds, clients)"
        )


def check_probability(probability: NDArray[np.float64] | None, rounds: int, clients: int) -> None:
    """``probability``, where there is one, must be (rounds, clients) from 0 to 1."""
    if probability is None:
        return
    if probability.shape != (rounds, clients):
        raise InputError(
            f"probability: found shape {probability.shape}, expected {(rounds, clients)} (rounds, clients)"
        )
    if not (probability.min() >= 0 and probability.max() <= 1):
        raise InputError(f"probability: found {probability.min()} to {probability.max()}, expected 0 to 1")


def check_edges(edges: NDArray[np.int64], clients: int) -> None:
    """``edges`` must be (E, 2) and join two different clients each."""
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise InputError(f"topology: found edges of shape {edges.shape}, expected (E, 2)")
    wrong = edges[((edges < 0) | (edges >= clients)).any(axis=1) | (edges[:, 0] == edges[:, 1])]
    if len(wrong):
        raise InputError(
            f"topology: found edge {wrong[0].tolist()}, expected two different clients of 0 to {clients - 1}"
        )


def check_partition(partition: Partition, data: ImageData, clients: int, *, own_test: bool) -> None:
    """Every client must have a training image, and a test image of its own if ``own_test``, all images of ``data``."""
    splits = [("train", partition.train, data.y_train)] + own_test * [("test", partition.test, data.y_test)]
    for split, parts, labels in splits:
        if len(parts) != clients:
            raise InputError(f"partition: found {len(parts)} clients in the {split} split, expected {clients}")
        for client, own in enumerate(parts):
            if not len(own):
                raise InputError(f"partition: client {client} has no {split} image, expected at least one")
            if own.min() < 0 or own.max() >= len(labels):
                raise InputError(
                    f"partition: client {client} has {split} images {own.min()} to {own.max()}, "
                    f"expected 0 to {len(labels) - 1}"
                )
