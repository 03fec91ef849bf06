"""FedScale's trace (Lai et al., ICML 2022): when each of 107,749 phones was charging, made from FLASH's full data.

A pickle: client → {duration, inactive: [s], finish_time, active: [s], model}. A client is online at t when
t mod finish_time lies inside some [active_k, inactive_k]; the clock's zero is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from outagefl.errors import DataError
from outagefl.inputs import checks
from outagefl.inputs.traces import Trace
from outagefl.sources import unpickle
from outagefl.traces.slots import Seconds


def read(source: Path, *, slot_minutes: float) -> Trace:
    """Read the pickle ``source``; the trace is as long as the longest finish_time.

    Raises DataError naming it if it asks for anything but plain containers, numbers and strings, or a client's entry
    does not have the form above. An interval that ends before it begins holds no instant; such are counted.
    """
    checks.positive("trace.slot_minutes", slot_minutes)
    try:
        content = unpickle.load(source.read_bytes(), str(source), allowed={})
    except OSError as error:
        raise DataError(f"{source}: not readable ({error})") from error
    if not isinstance(content, dict) or not content:
        raise DataError(f"{source}: expected a dict of clients, found {type(content).__name__}")
    clients = [_times(entry, f"{source}: client {name}") for name, entry in content.items()]
    at = np.arange(0, max(finish for _, _, finish in clients), slot_minutes * 60)
    state = np.empty((len(at), len(clients)), dtype=np.int8)
    reversed_intervals = 0
    for column, (active, inactive, finish) in enumerate(clients):
        forward = active <= inactive
        reversed_intervals += int((~forward).sum())
        now = at % finish
        begun = np.searchsorted(np.sort(active[forward]), now, side="right")
        ended = np.searchsorted(np.sort(inactive[forward]), now, side="left")
        state[:, column] = begun > ended
    return Trace(state, slot_minutes, None, {"intervals that end before they begin": reversed_intervals})


def _times(entry: Any, where: str) -> tuple[Seconds, Seconds, float]:
    """A client's active and inactive times and the time after which they repeat, checked."""
    if not isinstance(entry, Mapping) or not entry.keys() >= {"active", "inactive", "finish_time"}:
        raise DataError(f"{where}: expected a dict with active, inactive and finish_time")
    active, inactive, finish = (
        _numbers(entry[key], f"{where}: {key}") for key in ("active", "inactive", "finish_time")
    )
    if active.ndim != 1 or active.shape != inactive.shape:
        raise DataError(f"{where}: active and inactive are not two lists of the same length")
    if finish.ndim or finish <= 0:
        raise DataError(f"{where}: finish_time: {entry['finish_time']!r} is not a number above 0")
    return active, inactive, float(finish)


def _numbers(value: Any, where: str) -> Seconds:
    try:
        numbers = np.array(value)
    except ValueError:
        numbers = np.array(None)
    if numbers.size and (numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all() or numbers.min() < 0):
        raise DataError(f"{where}: not only finite numbers of at least 0")
    return numbers.astype(np.float64)
