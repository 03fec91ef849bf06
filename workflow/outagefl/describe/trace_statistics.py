"""What a trace is described by. Slots of unknown state count nowhere and end a run."""

from __future__ import annotations

from datetime import datetime, time

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN, Trace

Floats = NDArray[np.float64]
States = NDArray[np.int8]

HOURS = 24
RUN_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
DEVICE_QUANTILES = (0.25, 0.5, 0.75, 0.9)


def runs(state: States, value: int) -> NDArray[np.int64]:
    """Lengths in slots of all devices' runs of the state ``value``; runs under way at either end are cut off there."""
    columns = np.ascontiguousarray(state.T)
    begins = np.ones(columns.shape, bool)
    begins[:, 1:] = columns[:, 1:] != columns[:, :-1]
    first = np.flatnonzero(begins)
    lengths: NDArray[np.int64] = np.diff(first, append=columns.size)[columns.ravel()[first] == value]
    return lengths


def autocorrelation(state: States) -> Floats:
    """Lag-1 correlation of every device over its pairs of known slots, (devices,); NaN for one that never changes."""
    now, after = state[:-1], state[1:]
    known = (now != UNKNOWN) & (after != UNKNOWN)
    online_now, online_after = (now == ONLINE) & known, (after == ONLINE) & known
    pairs, a, b, both = (s.sum(axis=0) for s in (known, online_now, online_after, online_now & online_after))
    spread = np.sqrt(a * (pairs - a)) * np.sqrt(b * (pairs - b))
    return _ratio(pairs * both - a * b, spread)


def device_means(state: States) -> Floats:
    """Share of its known slots that every device is online, (devices,); NaN for one that is never known."""
    return _ratio((state == ONLINE).sum(axis=0), (state != UNKNOWN).sum(axis=0))


def hourly_share(trace: Trace) -> Floats | None:
    """Share online by hour of day, (24,), NaN for an hour no slot begins in; None where the start is not known."""
    start = minutes_of_day(trace)
    if start is None:
        return None
    hour = ((start + np.arange(len(trace.state)) * trace.slot_minutes) // 60 % HOURS).astype(int)
    online, known = (s.sum(axis=1) for s in (trace.state == ONLINE, trace.state != UNKNOWN))
    return _ratio(np.bincount(hour, online, HOURS), np.bincount(hour, known, HOURS))


def minutes_of_day(trace: Trace) -> float | None:
    """Local time of day at which the trace starts, in minutes from midnight; None where it is not known."""
    if trace.start is None:
        return None
    try:
        start = time.fromisoformat(trace.start)
    except ValueError:
        start = datetime.fromisoformat(trace.start).time()
    return start.hour * 60 + start.minute + start.second / 60


def statistics(trace: Trace) -> dict[str, Floats]:
    """Every statistic by name: one value, one per quantile, or one per hour. NaN where the trace does not say.

    Device means are quantiles over devices, runs quantiles in slots; the autocorrelation is the mean over devices.
    """
    state = trace.state
    online, unknown = np.mean(state == ONLINE), np.mean(state == UNKNOWN)
    devices = device_means(state)
    devices = devices[~np.isnan(devices)]
    changing = autocorrelation(state)
    changing = changing[~np.isnan(changing)]
    found: dict[str, ArrayLike] = {
        "share online": _ratio(online, 1 - unknown),
        "share never online": np.mean(devices == 0) if len(devices) else np.nan,
        "device mean": _quantiles(devices, DEVICE_QUANTILES),
        "largest device mean": devices.max(initial=0) if len(devices) else np.nan,
        "online run": _quantiles(runs(state, ONLINE), RUN_QUANTILES),
        "offline run": _quantiles(runs(state, OFFLINE), RUN_QUANTILES),
        "autocorrelation": changing.mean() if len(changing) else np.nan,
        "share unknown": unknown,
    }
    hourly = hourly_share(trace)
    if hourly is not None:
        found["hourly share"] = hourly
    return {name: np.atleast_1d(np.asarray(value, dtype=np.float64)) for name, value in found.items()}


def _ratio(part: ArrayLike, whole: ArrayLike) -> Floats:
    """Part over whole, NaN where the whole is 0."""
    parts, wholes = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    ratio = np.full(wholes.shape, np.nan)
    np.divide(parts, wholes, out=ratio, where=wholes > 0)
    return ratio


def _quantiles(values: Floats | NDArray[np.int64], quantiles: tuple[float, ...]) -> Floats:
    return np.quantile(values, quantiles) if len(values) else np.full(len(quantiles), np.nan)
