"""Traces: what devices were recorded to do, slot by slot, and their file."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.inputs import storage
from outagefl.sources.boundary import faults_named

log = logging.getLogger(__name__)

UNKNOWN, OFFLINE, ONLINE = -1, 0, 1


@dataclass(frozen=True)
class Trace:
    """Devices over slots of equal length; a slot's state is that of its first instant (our choice).

    Taken at an instant, the share of slots online estimates the share of time online without bias; a majority within
    the slot would favour the more frequent state.
    """

    state: NDArray[np.int8]  # (slots, devices), ONLINE, OFFLINE or UNKNOWN
    slot_minutes: float
    start: str | None  # local time of the first slot: ISO date and time, or time of day; None where it is not known
    counts: Mapping[str, int]  # what was met while reading, e.g. malformed lines


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Read the trace of ``spec`` (trace) from the ``source`` it needs; write it to ``target``, log what was counted."""
    source = needs["source"]
    read, options = components.load("trace", spec["trace"])
    with faults_named(source):
        trace = read(source, **options)
    if not trace.state.size:
        raise DataError(f"{source}: holds no device or no slot")
    log.info("%s: %d slots, %d devices", source, *trace.state.shape)
    for what, count in trace.counts.items():
        log.info("%s: %d %s", source, count, what)
    save(target, trace)


def save(path: Path | str, trace: Trace) -> None:
    """Write a trace as one ``.npz``."""
    storage.write(
        path,
        state=trace.state,
        slot_minutes=np.array(float(trace.slot_minutes)),
        start=np.array(trace.start or ""),
        counts=np.array(json.dumps(dict(trace.counts))),
    )


def load(path: Path | str) -> Trace:
    """Read a trace. Raises DataError naming the file if it is missing, damaged or no trace."""
    state, slot_minutes, start, counts = storage.read(path, "state", "slot_minutes", "start", "counts")
    if state.dtype != np.int8 or state.ndim != 2 or not state.size or state.min() < UNKNOWN or state.max() > ONLINE:
        raise DataError(f"{path}: a trace holds 8-bit states -1, 0 or 1 of slots by devices")
    try:
        return Trace(state, float(slot_minutes), str(start) or None, json.loads(str(counts)))
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: not a trace ({error})") from error
