"""NumPy's array files from elsewhere, read without trusting their headers: https://numpy.org/neps/nep-0001-npy-format."""

from __future__ import annotations

import io
import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from outagefl.errors import DataError
from outagefl.sources import archive

HEADERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}


def load(content: bytes, where: str) -> NDArray[Any]:
    """Return the array in an ``.npy`` file, read-only and without a copy.

    Raises DataError, naming ``where`` the file comes from, if it is damaged, holds Python objects, or has another
    length than its header says: nothing is allocated on a header's word.
    """
    stream = io.BytesIO(content)
    try:
        shape, fortran, dtype = HEADERS[npy_format.read_magic(stream)](stream)
        size = math.prod(shape) * dtype.itemsize
        held = len(content) - stream.tell()
        if dtype.hasobject:
            raise ValueError("it holds Python objects, which are refused")
        if size != held:
            raise ValueError(f"its header says {size} bytes ({dtype} of shape {shape}), it holds {held}")
        return np.ndarray(shape, dtype, content, stream.tell(), order="F" if fortran else "C")
    except Exception as error:  # a damaged header can raise almost anything
        raise DataError(f"{where}: not a sound array file: {error}") from error


def archived(source: Path, wanted: Collection[str]) -> dict[str, NDArray[Any]]:
    """The arrays ``wanted`` of an ``.npz`` file, read-only; DataError if one is missing, damaged or too large."""
    found = archive.files(source, [f"{name}.npy" for name in wanted])
    return {name.removesuffix(".npy"): load(content, f"{source}: {name}") for name, content in found}
