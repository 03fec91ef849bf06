"""Phones recorded once a minute, as in ExtraSensory (Vaizman et al., IEEE Pervasive Computing 2017).

CSV, plain or gzip, with the columns user, timestamp (UTC seconds), charging and wifi (1, 0, or empty or nan where not
known), and if there are, battery_missing and wifi_missing (1: not known). Other columns are ignored. A phone is online
while it is charging and on Wi-Fi. Phones were recorded in different weeks: each one's first slot is the midnight, in
its time zone, before its first record (our choice), so hours of the day are kept and dates are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from outagefl.errors import DataError, InputError
from outagefl.inputs import checks
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN, Trace
from outagefl.traces import slots, tables
from outagefl.traces.slots import DAY

COLUMNS = ("user", "timestamp", "charging", "wifi")
COUNTED = (
    "records",
    "records after the last slot",
    "records with an unknown state",
    "records with another state than one at the same time",
)
FLAGS = {"1": ONLINE, "1.0": ONLINE, "0": OFFLINE, "0.0": OFFLINE, "": UNKNOWN, "nan": UNKNOWN}  # in lower case


def read(source: Path, *, slot_minutes: float, days: float, longest_gap_minutes: float, time_zone: str) -> Trace:
    """Read the records in ``source`` into slots from each phone's first midnight on, for so many ``days``.

    A record holds until the phone's next one, but for less than ``longest_gap_minutes``; then the state is unknown.
    Of records at the same time the last one in the file holds; those that differ from the one before are counted.
    ``time_zone``: where the phones were, e.g. America/Los_Angeles; its offset at a phone's first record holds for all
    of them. Raises DataError naming file and line of a value that cannot be used, or of time going backwards.
    """
    checks.positive("trace.longest_gap_minutes", longest_gap_minutes)
    zone = _zone(time_zone)
    at = slots.starts(slot_minutes, days)
    phones = tables.by_device(_records(source))
    state = slots.blank(at, len(phones))
    counts = dict.fromkeys(COUNTED, 0)
    for column, (phone, records) in enumerate(phones.items()):
        times, states = records.T
        since = times - _midnight(times[0], zone, f"{source}: user {phone}")
        state[:, column] = slots.held(since, states.astype(np.int8), at, longest_gap_minutes * 60)
        counts["records"] += len(times)
        counts["records after the last slot"] += int((since >= days * DAY).sum())
        counts["records with an unknown state"] += int((states == UNKNOWN).sum())
        differing = (np.diff(times) == 0) & (np.diff(states) != 0)
        counts["records with another state than one at the same time"] += int(differing.sum())
    return Trace(state, slot_minutes, "00:00", counts)


def _records(source: Path) -> Iterator[tuple[str, str, float, int]]:
    """Where each record stands, and its phone, time and state."""
    latest: dict[str, float] = {}
    for where, row in tables.rows(source, COLUMNS):
        phone = tables.name(where, "user", row["user"])
        time = tables.number(where, "timestamp", row["timestamp"])
        if time < latest.get(phone, time):
            raise DataError(f"{where}: user {phone}: time goes back from {latest[phone]:.0f} to {time:.0f}")
        latest[phone] = time
        charging = _signal(row, "charging", "battery_missing", where)
        wifi = _signal(row, "wifi", "wifi_missing", where)
        yield where, phone, time, OFFLINE if OFFLINE in (charging, wifi) else min(charging, wifi)


def _signal(row: Mapping[str, str], column: str, missing: str, where: str) -> int:
    state, is_missing = _flag(row, column, where), _flag(row, missing, where)
    return UNKNOWN if is_missing == ONLINE else state


def _flag(row: Mapping[str, str], column: str, where: str) -> int:
    text = row.get(column, "0")
    if text.lower() not in FLAGS:
        raise DataError(f"{where}: {column}: {text!r} is not 1, 0 or empty")
    return FLAGS[text.lower()]


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
