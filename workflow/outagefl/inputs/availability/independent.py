"""Outages without memory, whose probabilities are prescribed for every client and round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import probabilities


def matrix(rounds: int, clients: int, rng: np.random.Generator, *, probability: Path) -> NDArray[np.bool_]:
    """Client i is online in round t by an independent draw with probability p_i^t, (rounds, clients).

    ``probability``: a file of p (``outagefl.inputs.probabilities``). The uniform numbers drawn do not depend on p: who
    is online under one seed is so, too, under any dynamics that make it more probable.

    Raises InputError if p is for other rounds or clients.
    """
    share = probabilities.load(probability)
    if share.shape != (rounds, clients):
        raise InputError(
            f"{probability}: probabilities of shape {share.shape}, expected {(rounds, clients)} (rounds, clients)"
        )
    return rng.random((rounds, clients)) < share
