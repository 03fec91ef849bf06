"""FedScale's trace (Lai et al., ICML 2022): when each of 107,749 phones was charging, made from FLASH's full data.

A pickle: client → {duration, inactive: [s], finish_time, active: [s], model}. A client is online at t when
t mod finish_time lies inside some [active_k, inactive_k]; the clock's zero is not known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outagefl.errors import DataError
from outagefl.inputs.traces import Trace
from outagefl.sources import plain, unpickle
from outagefl.traces import slots
from outagefl.traces.slots import DAY, MOST_DAYS, Seconds

LONGEST = MOST_DAYS * DAY  # seconds
COUNTED = ("intervals that end before they begin", "intervals that begin after finish_time")


def read(source: Path, *, slot_minutes: float) -> Trace:
    """Read the pickle ``source``; the trace is as long as the longest finish_time.

    Raises DataError naming it if it asks for anything but plain containers, numbers and strings, a client's entry does
    not have the form above, or its lists are shared so often that they would fill the memory. An interval that ends
    before it begins, or begins when the client's times repeat already, holds no instant; such are counted.
    """
    packed = plain.read(source)
    content = unpickle.load(packed, str(source), allowed={})
    if not isinstance(content, dict) or not content:
        raise DataError(f"{source}: expected a dict of clients, found {type(content).__name__}")
    finishes = [_finish(entry, _place(source, name)) for name, entry in content.items()]
    at = slots.begun(slot_minutes, max(finishes))
    state = slots.blank(at, len(content))
    numbers, counts = 0, dict.fromkeys(COUNTED, 0)
    for column, (name, entry) in enumerate(content.items()):
        where = _place(source, name)
        active, inactive = (_times(entry[key], f"{where}: {key}") for key in ("active", "inactive"))
        if active.shape != inactive.shape:
            raise DataError(f"{where}: active and inactive are not two lists of the same length")
        numbers += active.size + inactive.size
        if numbers > len(packed):
            raise DataError(f"{where}: more than {len(packed)} numbers up to here, in a file of as many bytes")
        forward = active <= inactive
        counts["intervals that end before they begin"] += int((~forward).sum())
        counts["intervals that begin after finish_time"] += int((active[forward] >= finishes[column]).sum())
        now = at % finishes[column]
        begun = np.searchsorted(np.sort(active[forward]), now, side="right")
        ended = np.searchsorted(np.sort(inactive[forward]), now, side="left")
        state[:, column] = begun > ended
    return Trace(state, slot_minutes, None, counts)


def _place(source: Path, name: object) -> str:
    if not isinstance(name, str) and not _is_number(name):
        raise DataError(f"{source}: a client is called by a {type(name).__name__}; expected a number or text")
    return f"{source}: client {name!s:.60}"


def _finish(entry: Any, where: str) -> float:
    """The time after which a client's times repeat, checked, as is the form of its entry."""
    if not isinstance(entry, dict) or not entry.keys() >= {"active", "inactive", "finish_time"}:
        raise DataError(f"{where}: expected a dict with active, inactive and finish_time")
    finish = entry["finish_time"]
    if not _is_number(finish) or not 0 < finish <= LONGEST:
        shown = finish if _is_number(finish) else type(finish).__name__
        raise DataError(f"{where}: finish_time: {shown} is not a number above 0 up to {LONGEST} s")
    return float(finish)


def _is_number(value: object) -> bool:
    """Whether this is a number of a size that can be shown."""
    return type(value) is float or (type(value) is int and value.bit_length() <= 64)


def _times(value: Any, where: str) -> Seconds:
    """A flat list of times as an array, checked; lists in lists may unfold to far more than their file."""
    flat = type(value) is list and {int, float}.issuperset(map(type, value))
    if not flat or not all(0 <= time <= LONGEST for time in value):
        raise DataError(f"{where}: expected a list of numbers from 0 to {LONGEST} s")
    return np.array(value, dtype=np.float64)
