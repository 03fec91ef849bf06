"""The slots of a trace and the states that hold at their first instants."""

from __future__ import annotations

from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.traces import OFFLINE, UNKNOWN

Seconds = NDArray[np.float64]
States = NDArray[np.int8]

DAY = 86_400  # seconds

MOST_DAYS = 3660  # ten years; no recorded trace is longer
MOST_SLOT_MINUTES = 7 * 1440
MOST_SLOTS = 10_000_000  # ten years by the minute are 5,270,400
MOST_STATES = 1 << 30  # bytes, one a state; FedScale by the minute takes 930,951,360


def starts(slot_minutes: float, days: float) -> Seconds:
    """The first instants of all whole slots within ``days``, in seconds from the start of the trace.

    Raises InputError naming the option for a number out of range, or a pair of them that makes no slot or too many.
    """
    checks.positive("trace.days", days, MOST_DAYS)
    whole = begun(slot_minutes, days * DAY)[: int(days * 1440 / slot_minutes + 1e-9)]
    if not len(whole):
        raise InputError(f"trace.days: {days} days hold no slot of {slot_minutes} minutes")
    return whole


def begun(slot_minutes: float, seconds: float) -> Seconds:
    """The first instants of all slots that begin within so many ``seconds``; InputError for too many slots."""
    checks.positive("trace.slot_minutes", slot_minutes, MOST_SLOT_MINUTES)
    slots = seconds / (slot_minutes * 60)
    if slots > MOST_SLOTS:
        raise InputError(
            f"trace.slot_minutes: slots of {slot_minutes} minutes divide {seconds / DAY:g} days into {slots:.3g}; "
            f"at most {MOST_SLOTS} are accepted"
        )
    return np.arange(ceil(slots), dtype=np.float64) * (slot_minutes * 60)


def blank(at: Seconds, devices: int) -> States:
    """An array to fill with the states of so many ``devices``, (slots, devices); InputError if it is too large."""
    if len(at) * devices > MOST_STATES:
        raise InputError(
            f"trace.slot_minutes: {len(at)} slots of {devices} devices are {len(at) * devices} states; "
            f"at most {MOST_STATES} are accepted"
        )
    return np.empty((len(at), devices), dtype=np.int8)


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
