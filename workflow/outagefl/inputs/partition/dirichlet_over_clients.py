"""Label-skewed partition of the training images: a Dirichlet draw for each class divides it over the clients."""

from __future__ import annotations

import numpy as np

from outagefl.datasets.arrays import ImageData
from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.label_skew import divide, feed_empty
from outagefl.inputs.partitions import Partition, label_counts


def split(
    data: ImageData,
    clients: int,
    rng: np.random.Generator,
    *,
    alpha: float,
) -> Partition:
    """Split class c over the clients in shares ~ Dirichlet(α·1) over clients (DFL-AA paper, section VI).

    No client has test images of its own. A client left without an image takes one from the client that then holds most
    (the released code gives it a random one). Raises InputError for bad options and for more clients than images.
    """
    y_train, y_test = data.y_train, data.y_test
    checks.positive("partition.alpha", alpha)
    if clients > len(y_train):
        raise InputError(f"clients: {clients} is more than the {len(y_train)} training images there are to split")
    classes = int(max(y_train.max(), y_test.max(initial=0))) + 1
    shares = rng.dirichlet(np.full(clients, alpha), size=classes).T
    parts = divide(y_train, shares, rng)
    feed_empty(parts, np.arange(clients))
    train = tuple(np.sort(part) for part in parts)
    mix = shares / shares.sum(axis=1, keepdims=True)
    return Partition(train, (np.zeros(0, dtype=np.int64),) * clients, mix, label_counts(train, y_train, classes))
