"""Which images a client trains on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def fresh(images: NDArray[np.int64], steps: int, batch_size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices (steps, b) of one round's batches, b = min(batch_size, n) for a client with images (n,).

    Fresh permutations of the client's own images, one after the other, are cut into batches (our choice): every
    image comes once before any comes twice, and every batch is full.
    """
    size = min(batch_size, len(images))
    passes = -(-steps * size // len(images))
    order = np.concatenate([rng.permutation(images) for _ in range(passes)])
    return order[: steps * size].reshape(steps, size)


def persistent(
    images: NDArray[np.int64],
    steps: int,
    batch_size: int,
    done: int,
    generator: Callable[[int], np.random.Generator],
) -> NDArray[np.int64]:
    """Indices (steps, b) of the batches that follow the client's first ``done`` ones, b as in ``fresh``.

    As in the released code of the FedSWE paper: a permutation of the client's images, drawn from ``generator(epoch)``,
    is cut into full batches; what is left over is discarded and the next epoch begins. Epochs go on across rounds.
    """
    size = min(batch_size, len(images))
    per_epoch = len(images) // size
    first, last = done // per_epoch, (done + steps - 1) // per_epoch
    epochs = [generator(epoch).permutation(images)[: per_epoch * size] for epoch in range(first, last + 1)]
    start = done % per_epoch
    return np.concatenate(epochs).reshape(-1, size)[start : start + steps]
