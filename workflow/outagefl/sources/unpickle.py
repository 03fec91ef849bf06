"""Pickles from elsewhere: plain containers, numbers, strings and NumPy arrays, nothing else.

A pickle is a program; the standard reader imports and calls whatever it names. This reader knows three names at most,
those in the pickle of an array, and refuses the rest. It builds on the standard library's reader in Python: the faster
one in C takes up as much memory as a pickle of ten bytes likes to name.
https://docs.python.org/3/library/pickle.html#restricting-globals
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from outagefl.errors import DataError

_RECONSTRUCT = np.empty(0).__reduce__()[0]  # the function array pickles call to make an empty array

Names = Mapping[tuple[str, str], Any]  # module and name → what it stands for

ARRAYS: Names = {
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class _Unpickler(pickle._Unpickler):
    allowed: Names

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused")
        return self.allowed[module, name]

    def refuse_bytearray(self) -> None:
        raise pickle.UnpicklingError("it asks for a bytearray, which is refused")  # takes its memory before it is read

    dispatch: ClassVar = {**pickle._Unpickler.dispatch, pickle.BYTEARRAY8[0]: refuse_bytearray}  # type: ignore[dict-item]


def load(content: bytes, where: str, allowed: Names = ARRAYS) -> Any:
    """Read the object in a pickle; strings of Python 2 become bytes, arrays of Python 3 need protocol 3 or 4.

    ``allowed``: what it may name; with none, it holds plain containers, numbers and strings only. Raises DataError,
    naming ``where`` the pickle comes from, if it is damaged or asks for anything else.
    """
    try:
        unpickler = _Unpickler(io.BytesIO(content), encoding="bytes")
        unpickler.allowed = allowed
        return unpickler.load()
    except Exception as error:  # a damaged pickle can raise almost anything
        kind = "plain data and arrays" if allowed else "plain data"
        raise DataError(f"{where}: not a pickle of {kind}: {error}") from error
