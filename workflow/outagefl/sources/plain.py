"""A file from elsewhere as it is."""

from __future__ import annotations

from pathlib import Path

from outagefl.errors import DataError


def read(path: Path, size: int = -1) -> bytes:
    """The first ``size`` bytes of a file, or all; DataError naming it if it is missing, a folder or unreadable."""
    try:
        with open(path, "rb") as stream:
            return stream.read(size)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: a folder; expected a file") from None
    except OSError as error:
        raise DataError(f"{path}: not readable ({error})") from error
