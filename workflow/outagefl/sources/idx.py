"""The IDX format of MNIST and its relatives: http://yann.lecun.com/exdb/mnist, section FILE FORMATS."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import DataError

UNSIGNED_BYTES = 8  # the only element type that image data sets use


def load(content: bytes, where: str) -> NDArray[np.uint8]:
    """Return the array in an IDX file of unsigned bytes, read-only and without a copy.

    The file is two zero bytes, the element type, the number of dimensions, each dimension as a big-endian 32-bit
    number, and the elements. Raises DataError, naming ``where`` it comes from, if anything differs, even the length.
    """
    dimensions = content[3] if len(content) > 3 else 0
    start = 4 + 4 * dimensions
    if content[:3] != bytes([0, 0, UNSIGNED_BYTES]) or dimensions == 0 or len(content) < start:
        raise DataError(f"{where}: not an IDX file of unsigned bytes")
    shape = tuple(int.from_bytes(content[at : at + 4], "big") for at in range(4, start, 4))
    if math.prod(shape) != len(content) - start:
        raise DataError(f"{where}: its header says shape {shape}, it holds {len(content) - start} bytes")
    return np.ndarray(shape, np.uint8, content, start)
