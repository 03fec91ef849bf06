"""The files of an archive or folder as a stream: nothing is extracted to disk, so no name in it can do harm."""

from __future__ import annotations

import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from outagefl.errors import DataError

Members = Iterator[tuple[str, bytes]]
Wanted = Callable[[str], bool]

LARGEST_FILE = 64 << 20  # bytes; a single file that unpacks to more is taken for a bomb

FAULTS = (EOFError, OSError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile, RuntimeError)


def members(path: Path, wanted: Wanted) -> Members:
    """Yield name and content of every file in a folder, tar, tar.gz, tar.xz or zip whose name is ``wanted``.

    The kind of archive is told by its content, not its name. Names are relative, with ``/``; the order is the archive's
    own. Raises DataError naming the archive if it is missing, no archive, damaged or truncated (then possibly only
    after all files were read: use nothing before the end).
    """
    try:
        if path.is_dir():
            yield from _in_folder(path, wanted)
            return
        with open(path, "rb") as stream:
            head = stream.read(512)
        if head.startswith(b"PK\x03\x04"):
            yield from _in_zip(path, wanted)
        elif head.startswith(b"\x1f\x8b"):
            yield from _in_tar(path, gzip.open, wanted)
        elif head.startswith(b"\xfd7zXZ\0"):
            yield from _in_tar(path, lzma.open, wanted)
        elif head[257:262] == b"ustar":
            _require_tar_end(path)
            yield from _in_tar(path, open, wanted)
        else:
            raise DataError(f"{path}: not an archive; expected a folder or a tar, tar.gz, tar.xz or zip file")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file or folder") from None
    except FAULTS as error:
        raise DataError(f"{path}: damaged, truncated or unreadable: {error}") from error


def _in_folder(folder: Path, wanted: Wanted) -> Members:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if wanted(name) and path.is_file():
            _check_size(path, path.stat().st_size)
            yield name, path.read_bytes()


def _in_zip(path: Path, wanted: Wanted) -> Members:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if wanted(member.filename) and not member.is_dir():
                _check_size(f"{path}: {member.filename}", member.file_size)
                yield member.filename, archive.read(member)


def _in_tar(path: Path, opener: Callable[..., Any], wanted: Wanted) -> Members:
    with opener(path, "rb") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if wanted(member.name) and member.isfile():
                _check_size(f"{path}: {member.name}", member.size)
                yield member.name, cast(IO[bytes], archive.extractfile(member)).read()
        while stream.read(1 << 20):  # the decompressor notices a damaged tail only when it is read
            pass


def _require_tar_end(path: Path) -> None:
    """Check for the 1024 zero bytes at the end of a tar: tarfile accepts a file that was cut between two members."""
    with open(path, "rb") as stream:
        stream.seek(-1024, os.SEEK_END)
        if any(stream.read()):
            raise EOFError("the end-of-archive marker is missing")


def _check_size(what: str | Path, size: int) -> None:
    if size > LARGEST_FILE:
        raise DataError(f"{what}: unpacks to {size} bytes; at most {LARGEST_FILE} are accepted")
