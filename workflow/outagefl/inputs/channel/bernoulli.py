"""Losses without memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def received(chunks: int, loss: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Each chunk arrives by an independent draw with probability q = 1 - ``loss``, (chunks,).

    DFL-AA paper, Definition 1. What arrives under one loss rate does so, too, under any lower one.
    """
    return rng.random(chunks) >= loss
