"""Pickles from elsewhere: plain containers, numbers, strings and NumPy arrays, nothing else.

A pickle is a program; the standard reader imports and calls whatever it names. This reader knows a few names at most,
those in the pickle of an array, and refuses the rest. Even these are not NumPy's own objects, which believe whatever
state a pickle gives them, but stand-ins that check it. The reader builds on the standard library's in Python: the
faster one in C takes up as much memory as a pickle of ten bytes likes to name.
https://docs.python.org/3/library/pickle.html#restricting-globals
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import DataError

KEYS = (str, bytes, int, float)  # a tuple nested deeply enough ends the process when it is hashed
NUMBERS = re.compile("[<>|=]?[biuf][1248]")  # what arrays may be of


class _DType:
    """Stands for a type of numbers. A pickle makes it from its name, then tells it the order of bytes."""

    def __init__(self, name: Any, *_: object) -> None:
        self.name, self.order = name, "="

    def built(self, state: Any) -> _DType:
        _, self.order, *_ = state
        return self

    def __str__(self) -> str:
        return "".join(part.decode() if isinstance(part, bytes) else str(part) for part in (self.order, self.name))


class _Array:
    """Stands for an array. A pickle makes it without content, then tells it shape, type, order and content."""

    def __init__(self, *_: object) -> None:
        pass

    def built(self, state: Any) -> NDArray[Any]:
        _, shape, dtype, fortran, content = state
        if not isinstance(dtype, _DType) or not NUMBERS.fullmatch(str(dtype)) or not isinstance(content, bytes):
            raise pickle.UnpicklingError("it holds an array of something else than numbers, which is refused")
        array = np.ndarray(shape, str(dtype), content, order="F" if fortran else "C")
        if array.nbytes != len(content):
            raise pickle.UnpicklingError(f"an array of {array.nbytes} bytes has {len(content)}")
        return array


Names = Mapping[tuple[str, str], Any]  # module and name → what stands for it
Operation = Callable[[Any], None]  # what the reader does at an instruction of the pickle

STANDARD: dict[int, Operation] = dict(pickle._Unpickler.dispatch)

ARRAYS: Names = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): _DType,
}


def _refused(what: str) -> Operation:
    def refuse(_: Any) -> None:
        raise pickle.UnpicklingError(f"it asks for a {what}, which is refused")

    return refuse


def _with_plain_keys(load: Operation, keys: slice) -> Operation:
    """An operation on a dict that first checks its keys, which are in these places of the stack."""

    def checked(unpickler: Any) -> None:
        for key in unpickler.stack[keys]:
            if type(key) not in KEYS:
                raise pickle.UnpicklingError(f"a key is a {type(key).__name__}, which is refused")
        load(unpickler)

    return checked


def _build(unpickler: Any) -> None:
    """Put in the place of a stand-in what it becomes by its state; nothing else has a state."""
    state = unpickler.stack.pop()
    unpickler.stack[-1] = unpickler.stack[-1].built(state)


class _Unpickler(pickle._Unpickler):
    allowed: Names

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused")
        return self.allowed[module, name]

    dispatch: ClassVar = STANDARD | {
        pickle.BUILD[0]: _build,
        pickle.SETITEM[0]: _with_plain_keys(STANDARD[pickle.SETITEM[0]], slice(-2, -1)),
        pickle.SETITEMS[0]: _with_plain_keys(STANDARD[pickle.SETITEMS[0]], slice(0, None, 2)),
        pickle.DICT[0]: _with_plain_keys(STANDARD[pickle.DICT[0]], slice(0, None, 2)),
        pickle.EMPTY_SET[0]: _refused("set"),
        pickle.FROZENSET[0]: _refused("frozenset"),
        pickle.BYTEARRAY8[0]: _refused("bytearray"),  # takes its memory before it is read
    }


def load(content: bytes, where: str, allowed: Names = ARRAYS) -> Any:
    """Read the object in a pickle; strings of Python 2 become bytes, arrays of Python 3 need protocol 3 or 4.

    ``allowed``: what it may name; with none, it holds plain containers, numbers and strings only. Arrays are read-only
    and stand in one place each. Raises DataError, naming ``where`` the pickle comes from, if it is damaged or asks for
    anything else.
    """
    try:
        unpickler = _Unpickler(io.BytesIO(content), encoding="bytes")
        unpickler.allowed = allowed
        return unpickler.load()
    except Exception as error:  # a damaged pickle can raise almost anything
        kind = "plain data and arrays" if allowed else "plain data"
        raise DataError(f"{where}: not a pickle of {kind}: {error}") from error
