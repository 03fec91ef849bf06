"""A trace in the plainest form: when each device is online.

CSV (plain or gzip) with the columns device, start and end, or an ``.npz`` with arrays of these names. A row says that
the device, under any name, is online from ``start`` to before ``end``, in seconds from the start of the trace; at all
other times it is offline. Rows come in any order and may overlap. A row that ends where it starts names a device that
need not be online at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import DataError
from outagefl.inputs.traces import Trace
from outagefl.sources import npy, plain
from outagefl.traces import slots, tables
from outagefl.traces.slots import DAY

COLUMNS = ("device", "start", "end")
ZIP = b"PK\x03\x04"  # what an .npz file begins with


def read(source: Path, *, slot_minutes: float, days: float) -> Trace:
    """Read the intervals in ``source`` into the slots of so many ``days``; devices are sorted by name.

    Raises DataError naming file and line (or entry, counted from 0) of a row that cannot be used: a value missing or
    not a number, a start below 0, an end before the start or after the last day. Names are taken without blanks around.
    """
    at = slots.starts(slot_minutes, days)
    intervals = tables.by_device(_intervals(source, days))
    state = slots.blank(at, len(intervals))
    overlapping = 0
    for column, device in enumerate(sorted(intervals)):
        starts, ends = intervals[device][np.lexsort(intervals[device].T[::-1])].T
        overlapping += int((np.maximum.accumulate(ends)[:-1] > starts[1:]).sum())
        begun = np.searchsorted(starts, at, side="right")
        ended = np.searchsorted(np.sort(ends), at, side="right")
        state[:, column] = begun > ended
    counts = {"intervals": sum(map(len, intervals.values())), "overlapping intervals": overlapping}
    return Trace(state, slot_minutes, None, counts)


def _intervals(source: Path, days: float) -> Iterator[tuple[str, str, float, float]]:
    """Where each row stands, and its device, start and end, checked."""
    rows = _archived if plain.read(source, len(ZIP)) == ZIP else _tabled
    for where, device, start, end in rows(source):
        if not 0 <= start <= end <= days * DAY:
            expected = f"0 <= start <= end <= {days * DAY:g} (trace.days: {days:g})"
            raise DataError(f"{where}: start {start:g}, end {end:g}; expected {expected}")
        yield where, tables.name(where, "device", device), start, end


def _tabled(source: Path) -> Iterator[tuple[str, str, float, float]]:
    for where, row in tables.rows(source, COLUMNS):
        start, end = (tables.number(where, column, row[column]) for column in ("start", "end"))
        yield where, row["device"], start, end


def _archived(source: Path) -> Iterator[tuple[str, str, float, float]]:
    arrays = npy.archived(source, COLUMNS)
    device, start, end = (arrays[column] for column in COLUMNS)
    kinds = device.dtype.kind in "iufU" and start.dtype.kind in "iuf" and end.dtype.kind in "iuf"
    if device.ndim != 1 or not device.shape == start.shape == end.shape or not kinds:
        raise DataError(
            f"{source}: expected three one-dimensional arrays of one length, device of text or numbers, start and end "
            "of numbers"
        )
    if device.dtype.kind == "U":
        _require_characters(device, f"{source}: device")
    for entry, values in enumerate(zip(device, start, end, strict=True)):
        yield f"{source}: entry {entry}", str(values[0]), float(values[1]), float(values[2])


def _require_characters(names: NDArray[np.str_], where: str) -> None:
    """Refuse text of numbers that are no characters, which NumPy stores and Python cannot hold."""
    codes = np.frombuffer(names.tobytes(), names.dtype.str[0] + "u4")
    if (codes > sys.maxunicode).any():
        raise DataError(f"{where}: {codes.max():#x} is not a character; expected at most {sys.maxunicode:#x}")
