"""Clients' speeds on disk: virtual seconds from one activation to the next."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.inputs import storage
from outagefl.randomness import generator


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Draw the intervals of ``spec`` (speeds, clients, seed) and write them to ``target``; needs nothing."""
    seconds, options = components.load("speeds", spec["speeds"])
    storage.write(target, seconds=seconds(spec["clients"], generator(spec["seed"], "speeds"), **options))


def load(path: Path | str) -> NDArray[np.float64]:
    """The clients' intervals, float64 (clients,); DataError naming the file if they cannot be."""
    [seconds] = storage.read(path, "seconds")
    if seconds.dtype != np.float64 or seconds.ndim != 1 or not ((seconds > 0) & (seconds < np.inf)).all():
        raise DataError(f"{path}: speeds are finite intervals above 0 as 64-bit floats, one for each client")
    return seconds
