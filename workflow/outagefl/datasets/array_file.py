"""A data set as an ``.npz`` file of ``x_train y_train x_test y_test`` and, to be compared, ``classes``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl.datasets.arrays import ARRAYS, Split
from outagefl.datasets.published import Form, Published, Reading
from outagefl.errors import DataError
from outagefl.sources import npy


def split(source: Path, x: NDArray[Any], y: NDArray[Any]) -> Split:
    """Images (n, height, width) or (n, height, width, channels) and their labels (n,), of any integer type, checked."""
    if x.dtype != np.uint8 or x.ndim not in (3, 4) or y.dtype.kind not in "iu" or y.shape != x.shape[:1]:
        raise DataError(
            f"{source}: images {x.dtype} {x.shape} with labels {y.dtype} {y.shape}; "
            "expected uint8 (n, height, width[, channels]) with integers (n,)"
        )
    return x if x.ndim == 4 else x[..., np.newaxis], y.astype(np.int64)


def _read(source: Path, names: Collection[str], published: Published) -> Reading:
    """Read the splits; the classes, where the file has them, must be the published ones."""
    found = npy.archived(source, [*ARRAYS, "classes"] if "classes.npy" in names else ARRAYS)
    if "classes" in found and found["classes"].astype(str).tolist() != list(published.classes):
        raise DataError(f"{source}: its classes are not those of {published.name}, in order")
    return Reading(split(source, found["x_train"], found["y_train"]), split(source, found["x_test"], found["y_test"]))


FORM = Form("x_train, y_train, x_test, y_test in an .npz", lambda names: "x_train.npy" in names, _read)
