"""Probabilities of being online on disk: p_i^t, (rounds, clients) float64."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.files import replacing
from outagefl.inputs import partitions
from outagefl.inputs.storage import UNREADABLE

Floats = NDArray[np.float64]


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Write the probabilities of ``spec`` (probability, rounds, clients, seed) to ``target``.

    ``needs``: the ``partition``, where the kind of base probability depends on it.
    """
    matrix, options = components.load("probability", spec["probability"])
    save(target, matrix(spec["rounds"], **{**options, "base": base_probabilities(spec, needs)}))


def base_probabilities(spec: Mapping[str, Any], needs: Mapping[str, Path]) -> Floats:
    """p_i, (clients,), of a ``spec`` and what it ``needs`` as for ``create``."""
    base, options = components.load("base", spec["probability"]["base"])
    partition = partitions.load(needs["partition"]) if needs else None
    probabilities: Floats = base(spec["clients"], partition, spec["seed"], **options)
    return probabilities


def save(path: Path | str, matrix: Floats) -> None:
    """Write the matrix as ``.npy``."""
    with replacing(path) as new:
        np.save(new, matrix)


def load(path: Path | str) -> Floats:
    """Read a matrix. Raises DataError naming the file if it is missing, damaged or holds no probabilities."""
    try:
        matrix: Floats = np.load(path)
    except UNREADABLE as error:
        raise DataError(f"{path}: expected a matrix of probabilities ({error})") from error
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or matrix.dtype != np.float64:
        raise DataError(f"{path}: expected a matrix of 64-bit floats, rounds by clients")
    wrong = np.argwhere(~((matrix >= 0) & (matrix <= 1)))
    if len(wrong):
        row, client = wrong[0]
        value = float(matrix[row, client])
        raise DataError(f"{path}: row {row}, client {client} (both from 0): {value} is not a probability from 0 to 1")
    return matrix
