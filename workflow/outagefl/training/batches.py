"""Which images a client trains on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def batches(images: NDArray[np.int64], steps: int, batch_size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices (steps, b) of one round's batches, b = min(batch_size, n) for a client with images (n,).

    Fresh permutations of the client's own images, one after the other, are cut into batches (our choice): every
    image comes once before any comes twice, and every batch is full.
    """
    size = min(batch_size, len(images))
    passes = -(-steps * size // len(images))
    order = np.concatenate([rng.permutation(images) for _ in range(passes)])
    return order[: steps * size].reshape(steps, size)
