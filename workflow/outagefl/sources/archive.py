"""The files of an archive or folder as a stream: nothing is extracted to disk, so no name in it can do harm.

Archives are not trusted. One with a link or a name that leads out of it is refused, whether that member is wanted or
not, and so is one that unpacks to far more than it was packed in (a "bomb"), before it fills the memory. Three limits
say what that is: on one file, on all files, and on the ratio of unpacked to packed.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from outagefl.errors import DataError

Members = Iterator[tuple[str, bytes]]
Entries = Iterator[tuple[str, int, Callable[[], bytes]]]  # name, size, how to read it

LARGEST_FILE = 256 << 20  # bytes; the largest that is read, the training images of CIFAR-100, has 155 MB
LARGEST_TOTAL = 4 << 30  # bytes; the largest archive, CINIC-10, unpacks to about 1 GB
HIGHEST_RATIO = 100  # images reach 1 to 10, a file of zeros 1000
ALWAYS_ALLOWED = 16 << 20  # bytes that even the smallest archive may unpack to


def names(path: Path) -> list[str]:
    """Name every file in a folder, tar, tar.gz, tar.xz or zip; errors as for ``members``, and if one stands twice."""
    with _faults_named(path):
        found = [name for name, _, _ in _entries(path)]
    for name, times in Counter(found).items():
        if times > 1:
            raise DataError(f"{path}: {name}: there are {times} files of this name; expected one")
    return found


def members(path: Path, wanted: Callable[[str], bool]) -> Members:
    """Yield name and content of every file in a folder, tar, tar.gz, tar.xz or zip whose name is ``wanted``.

    The kind of archive is told by its content, not its name. Names are relative, with ``/``; the order is the archive's
    own. Raises DataError naming the archive if it is missing, no archive, damaged or truncated (then possibly only
    after all files were read: use nothing before the end), if any member is a link or has a name that leads out of the
    archive, or if a limit is broken.
    """
    with _faults_named(path):
        for name, size, read in _entries(path):
            if wanted(name):
                if size > LARGEST_FILE:
                    raise DataError(f"{path}: {name}: unpacks to {size} bytes; at most {LARGEST_FILE} are accepted")
                yield name, read()


def files(path: Path, wanted: Collection[str]) -> Members:
    """Yield name and content of the files that are called ``wanted``, in whatever folder of the archive.

    The names are without folders, the order is the archive's own. Raises DataError as ``members`` does, if there are
    two files of one name, and in the end if a file was missing.
    """
    missing = set(wanted)
    for place, content in members(path, lambda place: PurePosixPath(place).name in wanted):
        name = PurePosixPath(place).name
        if name not in missing:
            raise DataError(f"{path}: {place}: a second {name}; expected one")
        missing.remove(name)
        yield name, content
    if missing:
        raise DataError(f"{path}: lacks {', '.join(sorted(missing))}")


def gunzip(content: bytes, where: str) -> bytes:
    """Unpack one gzip file in memory; DataError naming ``where`` it comes from if it is damaged or a bomb."""
    limit = min(LARGEST_FILE, allowance(len(content)))
    with _faults_named(where), gzip.open(io.BytesIO(content)) as stream:
        unpacked: bytes = stream.read(limit + 1)
    if len(unpacked) > limit:
        raise _too_much(where, limit)
    return unpacked


def allowance(packed: int) -> int:
    """How many bytes may come out of ``packed`` bytes."""
    return min(LARGEST_TOTAL, max(ALWAYS_ALLOWED, HIGHEST_RATIO * packed))


def _too_much(where: Path | str, limit: int) -> DataError:
    return DataError(f"{where}: unpacks to more than {limit} bytes, too many for its size")


@contextmanager
def _faults_named(where: Path | str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{where}: no such file or folder") from None
    except (DataError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can raise almost anything
        raise DataError(f"{where}: damaged, truncated or unreadable: {error}") from error


def _entries(path: Path) -> Entries:
    if path.is_dir():
        yield from _in_folder(path)
        return
    with open(path, "rb") as stream:
        head = stream.read(512)
    if head.startswith(b"PK\x03\x04"):
        yield from _in_zip(path)
    elif head.startswith(b"\x1f\x8b"):
        yield from _in_tar(path, gzip.open)
    elif head.startswith(b"\xfd7zXZ\0"):
        yield from _in_tar(path, lzma.open)
    elif head[257:262] == b"ustar":
        _require_tar_end(path)
        yield from _in_tar(path, open)
    else:
        raise DataError(f"{path}: not an archive; expected a folder or a tar, tar.gz, tar.xz or zip file")


def _in_folder(folder: Path) -> Entries:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.stat().st_size, path.read_bytes


def _in_zip(path: Path) -> Entries:
    with zipfile.ZipFile(path) as archive:
        inside = archive.infolist()
        limit = allowance(path.stat().st_size)
        if sum(member.file_size for member in inside) > limit:  # zipfile unpacks no more than these sizes say
            raise _too_much(path, limit)
        for member in inside:
            kind = stat.S_IFMT(member.external_attr >> 16)  # 0: not said
            _require_harmless(path, member.filename, plain=kind in (0, stat.S_IFREG, stat.S_IFDIR))
            if not member.is_dir():
                yield member.filename, member.file_size, partial(archive.read, member)


def _in_tar(path: Path, opener: Callable[..., Any]) -> Entries:
    with opener(path, "rb") as unbounded:
        stream = _Bounded(unbounded, path)
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as archive:
            for member in archive:
                plain = member.isdir() or (member.isreg() and not member.issparse())
                _require_harmless(path, member.name, plain=plain)
                if not member.isdir():
                    yield member.name, member.size, partial(_read, archive, member)
        while stream.read(1 << 20):  # the decompressor notices a damaged tail only when it is read
            pass


def _require_harmless(path: Path, name: str, *, plain: bool) -> None:
    """Refuse a member that is neither a ``plain`` file nor a folder, or that would be unpacked elsewhere."""
    if not plain:
        raise DataError(f"{path}: {name}: a link or device; only archives of plain files are read")
    if name.startswith("/") or ".." in PurePosixPath(name).parts:
        raise DataError(f"{path}: {name}: this name leads out of the archive")


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return cast(IO[bytes], archive.extractfile(member)).read()


class _Bounded:
    """A stream of unpacked bytes that ends in a DataError where a bomb would go on."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path = stream, path
        self.limit = self.left = allowance(path.stat().st_size)

    def read(self, size: int) -> bytes:
        content = self.stream.read(size)
        self.left -= len(content)
        if self.left < 0:
            raise _too_much(self.path, self.limit)
        return content


def _require_tar_end(path: Path) -> None:
    """Check for the 1024 zero bytes at the end of a tar: tarfile accepts a file that was cut between two members."""
    with open(path, "rb") as stream:
        stream.seek(-1024, os.SEEK_END)
        if any(stream.read()):
            raise EOFError("the end-of-archive marker is missing")
