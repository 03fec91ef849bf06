"""Whether a file from elsewhere is the one that the catalog means, told by size and checksum."""

from __future__ import annotations

import hashlib
from pathlib import Path

from outagefl.errors import DataError
from outagefl.files import checksum as checksum_of


def confirm(path: Path, *, bytes: int | None, checksum: str) -> None:
    """Check a file that bears its final name, as ``verify`` does; DataError also says how to get the right one."""
    try:
        verify(path, bytes=bytes, checksum=checksum)
    except DataError as error:
        raise DataError(f"{error}; delete it to have it downloaded again") from None


def verify(path: Path, *, bytes: int | None, checksum: str) -> None:
    """Check a file's size (None: any) and checksum (md5:…, sha256:… or git-blob:…); DataError says what differs."""
    size = path.stat().st_size
    if bytes is not None and size != bytes:
        raise DataError(f"{path}: has {size} bytes, expected {bytes}")
    algorithm, _, expected = checksum.partition(":")
    found = _git_blob(path) if algorithm == "git-blob" else checksum_of(path, algorithm)
    if found != expected:
        raise DataError(f"{path}: its {algorithm} is {found}, expected {expected}")


def _git_blob(path: Path) -> str:
    """Compute the id git gives to a content: SHA-1 over ``blob <size>``, a zero byte, and the content."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.sha1(b"blob %d\0" % path.stat().st_size)).hexdigest()
