"""Label-skewed partition of the training images alone: whoever tests does so on all test images."""

from __future__ import annotations

import numpy as np

from outagefl.datasets.arrays import ImageData
from outagefl.inputs.label_skew import split_by_mix
from outagefl.inputs.partitions import Partition, label_counts


def split(
    data: ImageData,
    clients: int,
    rng: np.random.Generator,
    *,
    alpha: float,
    class_groups: int = 1,
) -> Partition:
    """Split the training images over the clients as ``split_by_mix`` does; no client has test images of its own.

    With ``class_groups`` above 1, classes and clients are divided in order into that many groups, and the clients of a
    group hold all images of its classes and no others: with 2, 10 classes and 100 clients, the periodic dynamics of the
    FedSWE paper (section 7.1).

    With the same seed and one group the training images go to the same clients as in kind ``dirichlet``. Raises
    InputError as ``split_by_mix`` does.
    """
    y_train, y_test = data.y_train, data.y_test
    classes = int(max(y_train.max(), y_test.max(initial=0))) + 1
    train, mix = split_by_mix(y_train, classes, clients, rng, alpha=alpha, groups=class_groups)
    nothing = (np.zeros(0, dtype=np.int64),) * clients
    return Partition(train, nothing, mix, label_counts(train, y_train, classes))
