"""Where reading of files from elsewhere ends: beyond, only errors that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from outagefl.errors import DataError, OutageflError


@contextmanager
def faults_named(source: object) -> Iterator[None]:
    """Turn whatever the content of ``source`` makes its readers, or the libraries they use, raise into a DataError.

    Errors of the machine, such as a full disk or too little memory, pass as they are.
    """
    try:
        yield
    except (OutageflError, MemoryError, OSError):
        raise
    except Exception as error:
        told = " ".join(str(error).split())
        raise DataError(f"{source}: damaged or not as expected ({type(error).__name__}: {told:.200})") from error
