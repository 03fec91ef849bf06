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


def batches_per_epoch(images: int, batch_size: int, *, keep_rest: bool) -> int:
    """Batches of min(batch_size, images) in one pass over the images; ``keep_rest``: the incomplete one counts."""
    size = min(batch_size, images)
    return -(-images // size) if keep_rest else images // size


def persistent(
    images: NDArray[np.int64],
    steps: int,
    batch_size: int,
    done: int,
    generator: Callable[[int], np.random.Generator],
    *,
    keep_rest: bool = False,
) -> list[NDArray[np.int64]]:
    """Indices (b,) of each of the ``steps`` batches that follow the client's first ``done`` ones, b as in ``fresh``.

    A permutation of the client's images, drawn from ``generator(epoch)``, is cut into batches. What is left over is
    discarded, as in the released code of the FedSWE paper, or with ``keep_rest`` makes a smaller batch, as in that of
    the DFL-AA paper; then the next epoch begins. Epochs go on across rounds.
    """
    size = min(batch_size, len(images))
    per_epoch = batches_per_epoch(len(images), batch_size, keep_rest=keep_rest)
    first, last = done // per_epoch, (done + steps - 1) // per_epoch
    orders = [generator(epoch).permutation(images) for epoch in range(first, last + 1)]
    batches = [order[place * size : (place + 1) * size] for order in orders for place in range(per_epoch)]
    start = done % per_epoch
    return batches[start : start + steps]
