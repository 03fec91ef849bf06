"""Outages as recorded: every client follows one device of a trace."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks, traces
from outagefl.inputs.traces import OFFLINE, ONLINE, UNKNOWN

log = logging.getLogger(__name__)

UNKNOWN_MEANS = {"offline": OFFLINE, "online": ONLINE, "drop_device": UNKNOWN}
REPLACEMENT = ("never", "when_needed", "always")


def matrix(
    rounds: int,
    clients: int,
    rng: np.random.Generator,
    *,
    trace: Path,
    unknown: str,
    start_slot: int,
    min_coverage: float,
    drop_never_online: bool,
    replacement: str,
) -> NDArray[np.bool_]:
    """Draw a device for each client and follow it, one slot a round, (rounds, clients).

    ``trace``: a prepared trace (``outagefl.inputs.traces``); the first round is its ``start_slot`` (from 0), and after
    its last slot it begins again. ``unknown``: what an unknown state means, ``offline``, ``online`` or
    ``drop_device``, which leaves out devices that have any. Left out too are devices of which less than a share
    ``min_coverage`` of slots is known, and with ``drop_never_online`` those never online. ``replacement``: whether
    clients may share a device: ``never``, ``when_needed`` (with more clients than devices) or ``always``.

    Raises InputError if there is no device left, there are too few without replacement, or none of them is online in
    any slot that is followed. That the ones drawn are all offline by chance is no error.
    """
    checks.choice("availability.unknown", unknown, UNKNOWN_MEANS)
    checks.choice("availability.replacement", replacement, REPLACEMENT)
    checks.number("availability.min_coverage", min_coverage, 0, 1)
    state = traces.load(trace).state
    checks.whole("availability.start_slot", start_slot, 0, len(state) - 1)
    known = state != UNKNOWN
    fit = known.mean(axis=0) >= (1 if unknown == "drop_device" else min_coverage)
    if drop_never_online:
        fit &= (state == ONLINE).any(axis=0)
    devices = np.flatnonzero(fit)
    if not len(devices) or (replacement == "never" and clients > len(devices)):
        raise InputError(
            f"availability trace: {len(devices)} of {state.shape[1]} devices are left for {clients} clients "
            f"(unknown: {unknown}, min_coverage: {min_coverage:g}, drop_never_online: {drop_never_online}, "
            f"replacement: {replacement}); expected at least {1 if replacement != 'never' else clients}"
        )
    slots = (start_slot + np.arange(rounds)) % len(state)
    if not _online(state[np.ix_(np.unique(slots), devices)], unknown).any():
        raise InputError(_nobody(state[:, devices], unknown, start_slot, rounds))
    with_replacement = replacement == "always" or (replacement == "when_needed" and clients > len(devices))
    chosen = rng.choice(devices, clients, replace=with_replacement)
    followed = state[np.ix_(slots, chosen)]
    online = _online(followed, unknown)
    known_share = (followed != UNKNOWN).mean()
    log.info("%.4f of the followed slots are unknown", 1 - known_share)
    if known_share:
        log.info("online: %.4f of the known slots", (followed == ONLINE).mean() / known_share)
    log.info("online: %.4f of all slots, with unknown: %s", online.mean(), unknown)
    return online


def _online(state: NDArray[np.int8], unknown: str) -> NDArray[np.bool_]:
    """Who is online, with the meaning that ``unknown`` states are given."""
    online: NDArray[np.bool_] = np.where(state == UNKNOWN, UNKNOWN_MEANS[unknown], state) == ONLINE
    return online


def _nobody(state: NDArray[np.int8], unknown: str, start_slot: int, rounds: int) -> str:
    """Say that no device is online in the slots that are followed, and in which slots one is."""
    busy = np.flatnonzero(_online(state, unknown).any(axis=1))
    where = f"in {len(busy)} of {len(state)} slots, from {busy[0]} to {busy[-1]}" if len(busy) else "in no slot"
    return (
        f"availability.start_slot: {start_slot}: in the {rounds} slots followed from there on, one a round, none of "
        f"{state.shape[1]} devices is ever online (unknown: {unknown}); in the whole trace one is {where}"
    )
