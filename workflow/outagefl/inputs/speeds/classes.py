"""Clients of a few speeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks


def seconds(clients: int, rng: np.random.Generator, *, intervals: Sequence[float]) -> NDArray[np.float64]:
    """Virtual seconds from one activation of a client to its next, (clients,), at random one of ``intervals``.

    Each of the ``intervals`` is that of equally many clients, and the last one also that of those left over: with
    three, 6, 6 and 8 of 20, as in the DFL-AA paper's released code. Raises InputError for more intervals than clients.
    """
    for interval in intervals:
        checks.positive("speeds.intervals", interval)
    if not 0 < len(intervals) <= clients:
        raise InputError(f"speeds.intervals: {len(intervals)} for {clients} clients; expected 1 to {clients}")
    place = np.minimum(np.arange(clients) // (clients // len(intervals)), len(intervals) - 1)
    return rng.permutation(np.array(intervals, dtype=np.float64)[place])
