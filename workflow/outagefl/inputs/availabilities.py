"""Availability matrices on disk: who is online when, (rounds, clients) bool."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.files import replacing
from outagefl.inputs.storage import UNREADABLE
from outagefl.randomness import generator

log = logging.getLogger(__name__)


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Draw the matrix of ``spec`` (availability, rounds, clients, seed) and write it to ``target``.

    ``needs``: the files that a kind of availability is made from, by the options in whose place it is given them.
    """
    matrix, options = components.load("availability", spec["availability"])
    # one that is made of another must not draw the same numbers again
    rng = generator(spec["seed"], "assignment" if "of" in needs else "availability")
    drawn = matrix(spec["rounds"], spec["clients"], rng, **{**options, **needs})
    if not drawn.any():
        log.warning("nobody is online in any of the %d rounds", spec["rounds"])
    save(target, drawn)


def save(path: Path | str, matrix: NDArray[np.bool_]) -> None:
    """Write the matrix as ``.npy``."""
    with replacing(path) as new:
        np.save(new, matrix)


def load(path: Path | str) -> NDArray[np.bool_]:
    """Read a matrix. Raises DataError naming the file if it is missing, damaged or not a boolean matrix."""
    try:
        matrix: NDArray[np.bool_] = np.load(path)
    except UNREADABLE as error:
        raise DataError(f"{path}: expected an availability matrix ({error})") from error
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype != bool:
        raise DataError(f"{path}: expected a boolean matrix, rounds by clients")
    return matrix
