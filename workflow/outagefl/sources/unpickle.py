"""Pickles from elsewhere: plain containers, numbers, strings and NumPy arrays, nothing else.

A pickle is a program; the standard reader imports and calls whatever it names. This reader knows three names, those in
the pickle of an array, and refuses the rest. https://docs.python.org/3/library/pickle.html#restricting-globals
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

from outagefl.errors import DataError

_RECONSTRUCT = np.empty(0).__reduce__()[0]  # the function array pickles call to make an empty array

ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused")
        return ALLOWED[module, name]


def load(content: bytes, where: str) -> Any:
    """Read the object in a pickle; strings of Python 2 become bytes, arrays of Python 3 need protocol 3 or 4.

    Raises DataError, naming ``where`` the pickle comes from, if it is damaged or asks for anything but NumPy arrays.
    """
    try:
        return _ArrayUnpickler(io.BytesIO(content), encoding="bytes").load()
    except Exception as error:  # a damaged pickle can raise almost anything
        raise DataError(f"{where}: not a pickle of plain data and arrays: {error}") from error
