"""The FLASH trace (Yang et al., WWW 2021) as others have processed it: 723 phones, half-hour slots, five days.

Slots by devices; 1: screen off, charging and on Wi-Fi; 0: not; NaN: not known. The first slot begins on 2020-01-29 at
00:00, the last of its 241 at 00:00 five days later, so a repeated trace drifts by half an hour each time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outagefl.errors import DataError
from outagefl.inputs.traces import UNKNOWN, Trace
from outagefl.sources import npy, plain

SLOTS, SLOT_MINUTES = 241, 30
START = "2020-01-29T00:00"


def read(source: Path) -> Trace:
    """Read the ``.npy`` file ``source``, a matrix of any number of devices: some of the 723 serve as well.

    Raises DataError naming it if it holds anything but 241 slots of 1, 0 and NaN.
    """
    matrix = npy.load(plain.read(source), str(source))
    if matrix.ndim != 2 or len(matrix) != SLOTS or matrix.dtype.kind not in "biuf":
        raise DataError(
            f"{source}: {matrix.dtype} of shape {matrix.shape}; expected a matrix of numbers, {SLOTS} slots by devices"
        )
    unknown = np.isnan(matrix)
    wrong = np.argwhere(~unknown & (matrix != 0) & (matrix != 1))
    if len(wrong):
        slot, device = wrong[0]
        raise DataError(f"{source}: slot {slot}, device {device}: {matrix[slot, device]} is none of 1, 0 and NaN")
    state = np.where(unknown, UNKNOWN, matrix).astype(np.int8)
    return Trace(state, SLOT_MINUTES, START, {"unknown states": int(unknown.sum())})
