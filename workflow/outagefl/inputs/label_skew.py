"""Training images split over clients by label mixes ν_i ~ Dirichlet(α·1) (FedSWE, section 7; Hsu et al. 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.groups import in_order
from outagefl.inputs.partitions import Indices

Floats = NDArray[np.float64]


def split_by_mix(
    labels: NDArray[np.int64], classes: int, clients: int, rng: np.random.Generator, *, alpha: float, groups: int = 1
) -> tuple[tuple[Indices, ...], Floats]:
    """Each client's images, sorted, and its label mix ν_i, (clients, classes).

    The images of class c go to the clients in proportion to ν_i[c], every image to exactly one client. Classes and
    clients are divided in order into ``groups``: a client's mix is over the classes of its own group only.

    Where the paper is silent (our choice): counts are rounded along the clients in a random order for each class; a
    class whose ν_i[c] is 0 for every client is split evenly over its group; a client left without an image takes one
    from the client of its group that then holds most.

    ``labels`` (n,) are from 0 to ``classes`` - 1. Raises InputError for bad options and where a group has more clients
    than images.
    """
    checks.positive("partition.alpha", alpha)
    checks.whole("partition.class_groups", groups, 1, min(classes, clients))
    group_of_class, group_of_client = in_order(classes, groups), in_order(clients, groups)
    images = np.bincount(group_of_class[labels], minlength=groups)
    members = np.bincount(group_of_client)
    for group in np.flatnonzero(members > images).tolist():
        whose = f" of group {group}" if groups > 1 else ""
        raise InputError(
            f"clients: {members[group]}{whose} is more than the {images[group]} training images there are to split"
        )

    mixes = np.zeros((clients, classes))
    for group in range(groups):
        of_class = group_of_class == group
        drawn = rng.dirichlet(np.full(of_class.sum(), alpha), size=members[group])
        mixes[np.ix_(group_of_client == group, of_class)] = drawn
    own = group_of_client[:, None] == group_of_class
    parts = divide(labels, np.where(mixes.any(axis=0), mixes, own), rng)
    for group in range(groups):
        feed_empty(parts, np.flatnonzero(group_of_client == group))
    return tuple(np.sort(part) for part in parts), mixes


def divide(labels: NDArray[np.int64], shares: Floats, rng: np.random.Generator) -> list[Indices]:
    """Divide each class's images by its column of ``shares`` (clients, classes); each client's come in random order."""
    parts: list[list[Indices]] = [[] for _ in shares]
    for label, column in enumerate(shares.T):
        images = rng.permutation(np.flatnonzero(labels == label))
        order = rng.permutation(len(column))
        cuts = np.rint(column[order].cumsum() / column[order].sum() * len(images)).astype(np.int64)
        for client, part in zip(order, np.split(images, cuts[:-1]), strict=True):
            parts[client].append(part)
    return [rng.permutation(np.concatenate(part)) for part in parts]


def feed_empty(parts: list[Indices], clients: NDArray[np.int64]) -> None:
    """Give each of ``clients`` without an image the last one of that which holds most of them at that moment."""
    sizes = np.array([len(parts[client]) for client in clients])
    for poor in np.flatnonzero(sizes == 0):
        rich = int(sizes.argmax())
        giver, taker = clients[rich], clients[poor]
        parts[taker], parts[giver] = parts[giver][-1:], parts[giver][:-1]
        sizes[poor], sizes[rich] = 1, sizes[rich] - 1
