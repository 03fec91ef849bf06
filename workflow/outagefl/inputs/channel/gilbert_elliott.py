"""Losses in bursts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks


def received(chunks: int, loss: float, rng: np.random.Generator, *, mean_burst: float) -> NDArray[np.bool_]:
    """A two-state Markov chain over consecutive chunks: the good state delivers all, the bad one none, (chunks,).

    Gilbert (1960), the special case of Elliott (1963) that two numbers determine: bad runs are geometric with mean
    ``mean_burst`` chunks, good ones with the mean at which a share ``loss`` of all chunks is lost. Each message starts
    in the stationary state: the time between two messages of a link is long against a burst, so the chain would have
    forgotten, and what a message loses depends on no other.

    Raises InputError for bursts too short for the loss rate: good runs have at least one chunk.
    """
    checks.number("channel.mean_burst", mean_burst, 1)
    if loss in (0, 1):
        return np.full(chunks, loss == 0)
    shortest = loss / (1 - loss)
    turn_bad = shortest / mean_burst
    if turn_bad > 1 + 1e-9:  # beyond rounding
        raise InputError(
            f"channel.mean_burst: {mean_burst} with a loss rate of {loss}, expected {shortest:.3g} or more"
        )
    starts_good = rng.random() >= loss
    good_run = np.arange(chunks) % 2 != starts_good
    leave = np.where(good_run, min(turn_bad, 1), 1 / mean_burst)
    ends = rng.geometric(leave).clip(max=chunks).cumsum()
    changes = np.bincount(ends[ends < chunks], minlength=chunks).cumsum()
    received: NDArray[np.bool_] = changes % 2 != starts_good
    return received
