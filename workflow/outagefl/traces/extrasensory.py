"""Phones recorded once a minute, as in ExtraSensory (Vaizman et al., IEEE Pervasive Computing 2017).

CSV, plain or gzip, with the columns user, timestamp (UTC seconds), charging and wifi (1, 0, or empty or nan where not
known), and if there are, battery_missing and wifi_missing (1: not known). Other columns are ignored. A phone is online
while it is charging and on Wi-Fi. Phones were recorded in different weeks: each one's first slot is the midnight, in
its time zone, before its first record (our choice), so hours of the day are kept and dates are not.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from outagefl.errors import DataError, InputError
from outagefl.inputs import checks
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN, Trace
from outagefl.traces import slots, tables

COLUMNS = ("user", "timestamp", "charging", "wifi")
FLAGS = {"1": ONLINE, "1.0": ONLINE, "0": OFFLINE, "0.0": OFFLINE, "": UNKNOWN, "nan": UNKNOWN}
DAY = 86_400  # seconds


def read(source: Path, *, slot_minutes: float, days: float, longest_gap_minutes: float, time_zone: str) -> Trace:
    """Read the records in ``source`` into slots from each phone's first midnight on, for so many ``days``.

    A record holds until the phone's next one, but for less than ``longest_gap_minutes``; then the state is unknown.
    ``time_zone``: where the phones were, e.g. America/Los_Angeles; its offset at a phone's first record holds for all
    of them. Raises DataError naming file and line of a value that cannot be used, or of time going backwards.
    """
    checks.positive("trace.longest_gap_minutes", longest_gap_minutes)
    zone = _zone(time_zone)
    at = slots.starts(slot_minutes, days)
    phones = _phones(source)
    state = np.empty((len(at), len(phones)), dtype=np.int8)
    counts = {"records": 0, "records after the last slot": 0, "records with an unknown state": 0}
    for column, (phone, (times, states)) in enumerate(phones.items()):
        since = np.array(times) - _midnight(times[0], zone, f"{source}: user {phone}")
        state[:, column] = slots.held(since, np.array(states, dtype=np.int8), at, longest_gap_minutes * 60)
        counts["records"] += len(times)
        counts["records after the last slot"] += int((since >= days * DAY).sum())
        counts["records with an unknown state"] += states.count(UNKNOWN)
    return Trace(state, slot_minutes, "00:00", counts)


def _phones(source: Path) -> dict[str, tuple[list[float], list[int]]]:
    """Times and states of every phone's records."""
    phones: dict[str, tuple[list[float], list[int]]] = {}
    for where, row in tables.rows(source, COLUMNS):
        times, states = phones.setdefault(row["user"], ([], []))
        time = tables.number(where, "timestamp", row["timestamp"])
        if times and time < times[-1]:
            raise DataError(f"{where}: user {row['user']}: time goes back from {times[-1]:.0f} to {time:.0f}")
        charging, wifi = _flag(row, "charging", "battery_missing", where), _flag(row, "wifi", "wifi_missing", where)
        times.append(time)
        states.append(OFFLINE if OFFLINE in (charging, wifi) else min(charging, wifi))
    return phones


def _flag(row: dict[str, Any], column: str, missing: str, where: str) -> int:
    if row[column] not in FLAGS or row.get(missing, "0") not in FLAGS:
        raise DataError(f"{where}: {column}: {row[column]!r} is not 1, 0 or empty")
    return UNKNOWN if FLAGS[row.get(missing, "0")] == ONLINE else FLAGS[row[column]]


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, TypeError, ValueError, OSError):
        raise InputError(f"trace.time_zone: {name!r} is not a time zone such as 'America/Los_Angeles'") from None


def _midnight(time: float, zone: ZoneInfo, where: str) -> float:
    """The midnight before ``time`` in a time zone, both in UTC seconds."""
    try:
        offset = datetime.fromtimestamp(time, zone).utcoffset()
    except (ValueError, OverflowError, OSError):
        raise DataError(f"{where}: timestamp {time:.0f} is not a time in seconds since 1970") from None
    shift = offset.total_seconds() if offset else 0.0
    return (time + shift) // DAY * DAY - shift
