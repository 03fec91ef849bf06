"""Label-skewed partition: each client wants a Dirichlet mix of the classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.datasets.arrays import ImageData
from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.label_skew import split_by_mix
from outagefl.inputs.partitions import Partition, label_counts


def split(
    data: ImageData,
    clients: int,
    rng: np.random.Generator,
    *,
    alpha: float,
    test_images: int,
) -> Partition:
    """Split the training images over the clients, and give each client test images with the label mix of its own.

    Training images are split as ``split_by_mix`` does. A small ``alpha`` gives heterogeneous clients, a large one
    similar clients. The test split has ``test_images`` images, or all there are of the client's classes if fewer (our
    choice). Clients may share test images, which only serve evaluation.

    Raises InputError for bad options, for more clients than training images, and for a client none of whose classes has
    a test image.
    """
    y_train, y_test = data.y_train, data.y_test
    checks.whole("partition.test_images", test_images, 1)
    if not len(y_test):
        raise InputError("partition dirichlet: the data set has no test images to mirror the clients' labels with")

    classes = int(max(y_train.max(), y_test.max())) + 1
    train, mix = split_by_mix(y_train, classes, clients, rng, alpha=alpha)
    held = label_counts(train, y_train, classes)
    supply = np.bincount(y_test, minlength=classes)
    for client in np.flatnonzero((held @ supply) == 0):
        own = np.flatnonzero(held[client]).tolist()
        raise InputError(f"partition dirichlet: client {client} holds classes {own}, which have no test image")

    images = [np.flatnonzero(y_test == label) for label in range(classes)]
    test = []
    for counts in held:
        wanted = _mirror(counts, supply, test_images)
        test.append(np.concatenate([rng.choice(images[c], wanted[c], replace=False) for c in np.flatnonzero(wanted)]))
    return Partition(train, tuple(np.sort(own) for own in test), mix, held)


def _mirror(counts: NDArray[np.int64], supply: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Share ``size`` images over the classes in proportion to ``counts``, by largest remainder, within ``supply``.

    A class that would need more than its supply gives all it has, and the others share the rest in the same way.
    """
    weights = np.where(supply > 0, counts, 0)
    size = min(size, int(supply[weights > 0].sum()))
    taken = np.zeros_like(weights)
    while True:
        left = size - int(taken.sum())
        share, remainder = np.divmod(left * weights, max(int(weights.sum()), 1))
        share[np.argsort(-remainder, kind="stable")[: left - int(share.sum())]] += 1
        full = share > supply
        if not full.any():
            return taken + share
        taken[full] = supply[full]
        weights[full] = 0
