"""The slots of a trace and the states that hold at their first instants."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.traces import OFFLINE, UNKNOWN

Seconds = NDArray[np.float64]
States = NDArray[np.int8]


def starts(slot_minutes: float, days: float) -> Seconds:
    """The first instants of all whole slots within ``days``, in seconds from the start of the trace."""
    checks.positive("trace.slot_minutes", slot_minutes)
    checks.positive("trace.days", days)
    slots = int(days * 1440 / slot_minutes + 1e-9)
    if not slots:
        raise InputError(f"trace.days: {days} days hold no slot of {slot_minutes} minutes")
    return np.arange(slots, dtype=np.float64) * (slot_minutes * 60)


def held(times: Seconds, states: States, at: Seconds, longest: float = inf) -> States:
    """The states that hold ``at`` some instants, when one recorded at a time holds until the next.

    ``times`` (seconds) are in order, ``states`` recorded with them. Unknown before the first record, and from
    ``longest`` seconds after a record on.
    """
    last = np.searchsorted(times, at, side="right") - 1
    known = last >= 0
    known[known] = at[known] - times[last[known]] < longest
    found = np.full(len(at), UNKNOWN, dtype=np.int8)
    found[known] = states[last[known]]
    return found


def all_of(*states: States) -> States:
    """Online where all are; offline where one is known to be offline, whatever the others; else unknown."""
    stacked = np.stack(states)
    return np.where((stacked == OFFLINE).any(axis=0), OFFLINE, stacked.min(axis=0)).astype(np.int8)
