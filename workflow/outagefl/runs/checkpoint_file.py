"""The file that a run's state is kept in: two lines of text, then the state as ``torch.save`` writes it.

The first line is the SHA-256 of all that follows, the second a JSON mapping that can be read without the state. Reading
executes nothing: classes are those that the reader names. Tensors come back with their strides, and those that shared
memory share it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.serialization import safe_globals

from outagefl.files import replacing

DIGEST = 64  # hex digits


class UnusableError(Exception):
    """A file that does not hold what was written, or not what is asked for."""


def _array(values: Tensor) -> NDArray[Any]:
    """The array that was written as a tensor."""
    return np.array(values.numpy())


class _Pickler(pickle.Pickler):
    """Writes arrays as tensors: reading NumPy's own form would mean to trust more than these."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, np.ndarray):
            return _array, (torch.from_numpy(np.array(value)),)
        return NotImplemented


def write(path: Path, header: Mapping[str, Any], state: object) -> int:
    """Write a state, on disk when this returns, in place of the older file; the number of bytes.

    Raises OSError when the file cannot be written, and what pickling raises for a state that has no such form; either
    way the older file stays as it is.
    """
    with replacing(path) as new, open(new, "w+b") as stream:
        stream.write(f"{0:0{DIGEST}}\n{json.dumps(header)}\n".encode())
        try:
            torch.save(state, stream, pickle_module=SimpleNamespace(Pickler=_Pickler, __name__=__name__))
        except RuntimeError as error:  # what torch makes of a stream that failed: "unexpected pos 64 vs 0"
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise
        digest = _digest(stream)
        stream.seek(0)
        stream.write(digest.encode())
        stream.flush()
        os.fsync(stream.fileno())
        return os.fstat(stream.fileno()).st_size


def read(path: Path, fits: Callable[[Mapping[str, Any]], None], classes: Sequence[type]) -> tuple[dict[str, Any], Any]:
    """Header and state, made of ``classes``; ``fits`` may raise UnusableError for a header before the state is read.

    Raises UnusableError for a file that is damaged, OSError for one that cannot be read.
    """
    with open(path, "rb") as stream:
        if stream.read(DIGEST).decode("latin-1") != _digest(stream):
            raise UnusableError("damaged or cut short")
        stream.seek(DIGEST + 1)
        try:
            header = json.loads(stream.readline())
            fits(header)
            with safe_globals([_array, *classes]):
                return header, torch.load(stream, weights_only=True)
        except (ValueError, KeyError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
            raise UnusableError(f"not a checkpoint ({error})") from None


def _digest(stream: IO[bytes]) -> str:
    """Of all behind the place of the digest itself."""
    stream.seek(DIGEST)
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
