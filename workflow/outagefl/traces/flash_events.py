"""The raw FLASH trace (Yang et al., WWW 2021): a log of state changes for each of 1,000 phones.

JSON: device → {guid, model, messages}, the messages being lines ``YYYY-MM-DD HH:MM:SS <tab>state``. A phone is online
while it is idle, charging and on Wi-Fi. Each of these three carries over from one line about it to the next and is
unknown before its first; after a phone's last line everything is. A network named ``Unknown`` is not Wi-Fi, as in the
authors' simulator. Lines without use or meaning are counted: nothing is dropped in silence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from outagefl.errors import DataError, InputError
from outagefl.inputs import checks
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN, Trace
from outagefl.sources import plain
from outagefl.traces import slots
from outagefl.traces.slots import Seconds, States

STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
IDLE = {
    "screen_off": {"screen_off": ONLINE, "screen_on": OFFLINE},
    "screen_locked": {"screen_lock": ONLINE, "screen_unlock": OFFLINE},
}
CHARGING = {"battery_charged_on": ONLINE, "battery_charged_off": OFFLINE}
WIFI = {"wifi": ONLINE} | dict.fromkeys(("2g", "3g", "4g", "5g", "unknown"), OFFLINE)
KNOWN = CHARGING | WIFI | IDLE["screen_off"] | IDLE["screen_locked"]
COUNTED = ("lines", "malformed lines", "lines out of order", "unknown network states", "unrecognised states")

Event = tuple[float, str]  # seconds from the start of the trace, state in lower case


def read(
    source: Path, *, slot_minutes: float, idle: str, start: str, days: float, clock_tolerance_seconds: float
) -> Trace:
    """Read the events in ``source`` into slots from ``start`` (ISO date and time) on, for so many ``days``.

    ``idle``: what counts as idle, ``screen_off`` or ``screen_locked``. A line that is earlier than one before it by at
    most ``clock_tolerance_seconds`` is put in its place; DataError names file, device and both lines where one is
    earlier still, and a file that does not have the format above or names a device twice.
    """
    checks.choice("trace.idle", idle, IDLE)
    checks.number("trace.clock_tolerance_seconds", clock_tolerance_seconds, 0)
    at, begin = slots.starts(slot_minutes, days), _instant(start)
    devices, counts = _devices(source), Counter(dict.fromkeys(COUNTED, 0))
    state = slots.blank(at, len(devices))
    for column, (device, messages) in enumerate(devices.items()):
        events = _events(messages, f"{source}: device {device}", begin, clock_tolerance_seconds, counts)
        state[:, column] = _states(events, IDLE[idle], at)
    return Trace(state, slot_minutes, begin.isoformat(timespec="minutes"), counts)


def _instant(start: str) -> datetime:
    try:
        instant = datetime.fromisoformat(start)
    except (TypeError, ValueError):
        instant = None
    if instant is None or instant.tzinfo:
        raise InputError(f"trace.start: {start!r} is not a local date and time such as '2020-01-29 00:00'")
    return instant


def _devices(source: Path) -> dict[str, str]:
    """The messages of every device."""
    try:
        content = json.loads(plain.read(source), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source}: not readable as JSON ({error})") from error
    if not isinstance(content, dict):
        raise DataError(f"{source}: expected a mapping of devices, found {type(content).__name__}")
    for device, record in content.items():
        if not isinstance(record, dict) or not isinstance(record.get("messages"), str):
            raise DataError(f"{source}: device {device}: expected guid, model and messages, a text of lines")
    return {device: record["messages"] for device, record in content.items()}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no key may stand twice: to merge two devices' lines would invent a third device."""
    content = dict(pairs)
    if len(content) < len(pairs):
        [(key, times)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r} stands {times} times in one object; expected once")
    return content


def _events(messages: str, where: str, begin: datetime, tolerance: float, counts: Counter[str]) -> list[Event]:
    """One device's events in order of time; what is met is added to ``counts``."""
    events: list[Event] = []
    latest, latest_line = -np.inf, ""
    for number, line in enumerate(messages.split("\n"), 1):
        if not line.strip():
            continue
        counts["lines"] += 1
        stamp, _, name = (part.strip() for part in line.strip().partition("\t"))
        time = _seconds(stamp, begin)
        if time is None or len(name.split()) != 1:
            counts["malformed lines"] += 1
            continue
        if time < latest - tolerance:
            raise DataError(
                f"{where}, line {number}: {stamp} is {latest - time:.0f} s before {latest_line}; one of the two is "
                f"wrong (trace.clock_tolerance_seconds allows {tolerance:g} s)"
            )
        counts["lines out of order"] += time < latest
        if time > latest:
            latest, latest_line = time, f"line {number} ({stamp})"
        events.append((time, name.lower()))
    names = Counter(name for _, name in events)
    counts["unknown network states"] += names["unknown"]
    battery_levels = {name for name in names if name.endswith("%")}
    counts["unrecognised states"] += sum(names[name] for name in names.keys() - KNOWN.keys() - battery_levels)
    return sorted(events, key=lambda event: event[0])


def _seconds(stamp: str, begin: datetime) -> float | None:
    """The time that a line begins with, in seconds from ``begin``; None if it is not one, such as a 13th month."""
    try:
        return (datetime.fromisoformat(stamp) - begin).total_seconds() if STAMP.fullmatch(stamp) else None
    except ValueError:
        return None


def _states(events: list[Event], idle: Mapping[str, int], at: Seconds) -> States:
    """One device's states ``at`` the slots' first instants."""
    signals = []
    for meanings in (idle, CHARGING, WIFI):
        own = [(time, meanings[name]) for time, name in events if name in meanings]
        times, states = np.array(own).reshape(-1, 2).T
        signals.append(slots.held(times, states.astype(np.int8), at))
    end = events[-1][0] if events else -np.inf
    return np.where(at <= end, slots.all_of(*signals), UNKNOWN).astype(np.int8)
