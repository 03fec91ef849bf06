"""Seeded inputs on disk: named arrays in one NumPy archive, never with pickled objects."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from outagefl.errors import DataError
from outagefl.files import replacing

Array = np.ndarray[Any, Any]
UNREADABLE = (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile, zlib.error)


def write(path: Path | str, **arrays: Array) -> None:
    """Write the arrays as one ``.npz``; equal arrays give equal bytes."""
    with replacing(path) as new:
        np.savez(new, allow_pickle=False, **arrays)


def read(path: Path | str, *names: str) -> list[Array]:
    """The named arrays of an ``.npz``. Raises DataError for a file that is missing, damaged or of another kind."""
    try:
        with np.load(path) as archive:
            return [archive[name] for name in names]
    except UNREADABLE as error:
        raise DataError(f"{path}: expected an archive with the arrays {', '.join(names)} ({error})") from error
