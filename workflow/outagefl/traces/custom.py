"""A trace in the plainest form: when each device is online.

CSV (plain or gzip) with the columns device, start and end, or an ``.npz`` with arrays of these names. A row says that
the device, under any name, is online from ``start`` to before ``end``, in seconds from the start of the trace; at all
other times it is offline. Rows come in any order and may overlap. A row that ends where it starts names a device that
need not be online at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from outagefl.errors import DataError
from outagefl.inputs import storage
from outagefl.inputs.traces import Trace
from outagefl.traces import slots, tables

COLUMNS = ("device", "start", "end")
DAY = 86_400  # seconds


def read(source: Path, *, slot_minutes: float, days: float) -> Trace:
    """Read the intervals in ``source`` into the slots of so many ``days``; devices are sorted by name.

    Raises DataError naming file and line (or entry, counted from 0) of a row that cannot be used: a value missing or
    not a number, a start below 0, an end before the start or after the last day.
    """
    at = slots.starts(slot_minutes, days)
    intervals: dict[str, list[tuple[float, float]]] = {}
    for where, device, start, end in _rows(source):
        if not device:
            raise DataError(f"{where}: device: the name is missing")
        if not 0 <= start <= end <= days * DAY:
            expected = f"0 <= start <= end <= {days * DAY:g} (trace.days: {days:g})"
            raise DataError(f"{where}: start {start:g}, end {end:g}; expected {expected}")
        intervals.setdefault(device, []).append((start, end))
    state = np.empty((len(at), len(intervals)), dtype=np.int8)
    overlapping = 0
    for column, device in enumerate(sorted(intervals)):
        starts, ends = np.array(sorted(intervals[device])).T
        overlapping += int((np.maximum.accumulate(ends)[:-1] > starts[1:]).sum())
        begun = np.searchsorted(starts, at, side="right")
        ended = np.searchsorted(np.sort(ends), at, side="right")
        state[:, column] = begun > ended
    counts = {"intervals": sum(map(len, intervals.values())), "overlapping intervals": overlapping}
    return Trace(state, slot_minutes, None, counts)


def _rows(source: Path) -> Iterator[tuple[str, str, float, float]]:
    """Where each row stands, and its device, start and end."""
    if not source.is_file():
        raise DataError(f"{source}: no such file")
    with open(source, "rb") as stream:
        is_npz = stream.read(2) == b"PK"
    if not is_npz:
        for where, row in tables.rows(source, COLUMNS):
            yield where, row["device"], *(tables.number(where, name, row[name]) for name in ("start", "end"))
        return
    device, start, end = storage.read(source, *COLUMNS)
    numeric = {start.dtype.kind, end.dtype.kind} <= {"i", "u", "f"}
    if device.ndim != 1 or not device.shape == start.shape == end.shape or not numeric:
        raise DataError(f"{source}: expected three one-dimensional arrays of one length, start and end of numbers")
    for entry, values in enumerate(zip(device.tolist(), start.tolist(), end.tolist(), strict=True)):
        yield f"{source}: entry {entry}", str(values[0]), *values[1:]
