"""Numeric arrays of MATLAB files from elsewhere (MAT-File Format, version 5, The MathWorks).

SciPy's reader is not used here: it believes the sizes in a file, and a single damaged byte can end the whole process.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import DataError
from outagefl.sources.archive import allowance

HEADER = 128  # bytes of text, version and byte order
LITTLE_ENDIAN = b"\x00\x01IM"  # version and byte order at the header's end
MATRIX, COMPRESSED = 14, 15  # kinds of elements that hold others
NUMERIC_CLASSES = range(6, 16)
NUMBERS = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}


def load(content: bytes, where: str, wanted: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return the real numeric arrays called ``wanted``, read-only, with the types in which they are stored.

    Raises DataError, naming ``where`` the file comes from, if one is missing or is not numeric, or if the file is
    damaged, truncated or unpacks to too much.
    """
    try:
        if content[HEADER - 4 : HEADER] != LITTLE_ENDIAN:
            raise ValueError("not a little-endian MATLAB file of version 5")
        found: dict[str, NDArray[Any]] = {}
        left = allowance(len(content))
        for kind, element in _elements(memoryview(content)[HEADER:], padded=False):
            elements = iter([(kind, element)])
            if kind == COMPRESSED:
                unpacked = _unpacked(element, left)
                left -= len(unpacked)
                elements = _elements(unpacked, padded=False)
            for inner_kind, inner in elements:
                if inner_kind == MATRIX:
                    found |= _array(inner, wanted)
    except Exception as error:  # a damaged file can raise almost anything
        raise DataError(f"{where}: damaged or not a MATLAB file: {error}") from error
    if missing := [name for name in wanted if name not in found]:
        raise DataError(f"{where}: lacks the array {', '.join(missing)}")
    return found


def _elements(data: memoryview, *, padded: bool) -> Iterator[tuple[int, memoryview]]:
    """Kind and bytes of every element; inside a matrix they are padded to multiples of eight bytes."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        start = at + 8
        if kind >> 16:  # up to four bytes in the place of the size
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        if start + size > len(data):
            raise ValueError(f"an element of {size} bytes where {len(data) - start} are left")
        yield kind, data[start : start + size]
        at = max(at + 8, start + size)
        at += -at % 8 if padded else 0


def _unpacked(element: memoryview, limit: int) -> memoryview:
    unpacker = zlib.decompressobj()
    unpacked = unpacker.decompress(element, limit + 1)
    if len(unpacked) > limit:
        raise ValueError("it unpacks to far more than its size")
    if not unpacker.eof:
        raise ValueError("a compressed element is cut short")
    return memoryview(unpacked)


def _array(matrix: memoryview, wanted: Collection[str]) -> dict[str, NDArray[Any]]:
    """Name → array if it is wanted; the parts of a matrix are flags, dimensions, name and numbers."""
    (_, flags), (_, dimensions), (_, encoded), *rest = islice(_elements(matrix, padded=True), 4)
    name = bytes(encoded).decode("latin-1")
    if name not in wanted:
        return {}
    if flags[0] not in NUMERIC_CLASSES:
        raise ValueError(f"{name} is no array of numbers")
    [(kind, numbers)] = rest
    shape = np.frombuffer(dimensions, "<i4").tolist()
    dtype = np.dtype(NUMBERS[kind])
    if math.prod(shape) * dtype.itemsize != len(numbers):
        raise ValueError(f"{name} is said to be {dtype} {shape}, but has {len(numbers)} bytes")
    return {name: np.frombuffer(numbers, dtype).reshape(shape, order="F")}
