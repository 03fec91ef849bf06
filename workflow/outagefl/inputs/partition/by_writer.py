"""Each client is one writer: its images are those that this person wrote (LEAF, Caldas et al. 2018)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.datasets.arrays import ImageData
from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.partitions import Indices, Partition, label_counts


def split(data: ImageData, clients: int, rng: np.random.Generator, *, min_images: int) -> Partition:
    """Draw a writer for each client, without repeats, among those of at least ``min_images`` training images.

    A client trains on all training images of its writer and is tested on the images of this writer that the data set
    holds out. Images of writers that are not drawn are not used.

    Raises InputError for a bad option, a data set that does not know its writers, fewer such writers than clients, and
    a drawn writer without a test image.
    """
    checks.whole("partition.min_images", min_images, 1)
    writers = data.writers
    if writers is None:
        raise InputError("partition by_writer: the data set does not know who wrote its images; femnist does")
    images = np.bincount(writers.train, minlength=len(writers.names))
    eligible = np.flatnonzero(images >= min_images)
    if clients > len(eligible):
        raise InputError(
            f"clients: {clients} is more than the {len(eligible)} of {len(writers.names)} writers with at least "
            f"{min_images} training images (partition.min_images)"
        )
    drawn = rng.choice(eligible, clients, replace=False)
    train, test = _images_of(drawn, writers.train), _images_of(drawn, writers.test)
    for writer, own in zip(drawn, test, strict=True):
        if not len(own):
            raise InputError(f"partition by_writer: writer {writers.names[writer]} has no test image")
    return Partition(train, test, held=label_counts(train, data.y_train, len(data.classes)))


def _images_of(drawn: NDArray[np.int64], writer: NDArray[np.int64]) -> tuple[Indices, ...]:
    """The images of each writer that is drawn, given whose each image is, ascending."""
    order = np.argsort(writer, kind="stable")
    ends = np.cumsum(np.bincount(writer, minlength=int(drawn.max()) + 1))
    return tuple(np.split(order, ends)[one] for one in drawn)
