"""Label-skewed partition: each client wants a Dirichlet mix of the classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.partitions import Indices, Partition, label_counts


def split(
    y_train: NDArray[np.int64],
    y_test: NDArray[np.int64],
    clients: int,
    rng: np.random.Generator,
    *,
    alpha: float,
    test_images: int,
) -> Partition:
    """Split the training images over the clients, and give each client test images with the label mix of its own.

    Client i draws a mix ν_i ~ Dirichlet(α·1) over the classes; the images of class c go to the clients in proportion to
    ν_i[c] (FedSWE, section 7; Hsu et al. 2019). Every training image goes to exactly one client. A small ``alpha``
    gives heterogeneous clients, a large one similar clients.

    Where the paper is silent (our choice): counts are rounded along the clients in a random order for each class; a
    class whose ν_i[c] is 0 for every client is split evenly; a client left without an image takes one from the client
    that then holds most; the test split has ``test_images`` images, or all there are of the client's classes if fewer.
    Clients may share test images, which only serve evaluation.

    ``y_train`` (n,) and ``y_test`` (m,) are labels from 0. Raises InputError for bad options, for more clients than
    training images, and for a client none of whose classes has a test image.
    """
    checks.positive("partition.alpha", alpha)
    checks.whole("partition.test_images", test_images, 1)
    if clients > len(y_train):
        raise InputError(f"clients: {clients} is more than the {len(y_train)} training images there are to split")
    if not len(y_test):
        raise InputError("partition dirichlet: the data set has no test images to mirror the clients' labels with")

    classes = int(max(y_train.max(), y_test.max())) + 1
    mixes = rng.dirichlet(np.full(classes, alpha), size=clients)
    train = _feed_empty(_divide(y_train, mixes, rng))
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
    return Partition(tuple(np.sort(own) for own in train), tuple(np.sort(own) for own in test))


def _divide(labels: NDArray[np.int64], mixes: NDArray[np.float64], rng: np.random.Generator) -> list[Indices]:
    """Divide each class's images by its column of ``mixes`` (clients, classes); each client's come in random order."""
    parts: list[list[Indices]] = [[] for _ in mixes]
    for label, column in enumerate(mixes.T):
        images = rng.permutation(np.flatnonzero(labels == label))
        order = rng.permutation(len(column))
        shares = column[order] if column.any() else np.ones(len(column))
        cuts = np.rint(shares.cumsum() / shares.sum() * len(images)).astype(np.int64)
        for client, part in zip(order, np.split(images, cuts[:-1]), strict=True):
            parts[client].append(part)
    return [rng.permutation(np.concatenate(part)) for part in parts]


def _feed_empty(parts: list[Indices]) -> list[Indices]:
    """Give each client without an image the last one of the client that holds most at that moment."""
    sizes = np.array([len(part) for part in parts])
    for poor in np.flatnonzero(sizes == 0):
        rich = int(sizes.argmax())
        parts[poor], parts[rich] = parts[rich][-1:], parts[rich][:-1]
        sizes[poor], sizes[rich] = 1, sizes[rich] - 1
    return parts


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
