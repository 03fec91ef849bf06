"""Files that appear complete or not at all, and their checksums."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)  # some parallel and network file systems
SCRATCH = ".tmp-"  # begins the names of folders with unfinished files


@contextmanager
def replacing(target: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``target``; on success it is renamed to ``target``, on an error it is removed.

    The body may create a file or a folder at the yielded path (its suffix equals that of ``target``). An existing
    target file is replaced; a target folder that holds anything wins over the new one, since names stand for content.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=target.parent))
    try:
        new = scratch / target.name
        yield new
        try:
            os.replace(new, target)
        except OSError:
            if not (new.is_dir() and target.is_dir()):
                raise
    finally:
        shutil.rmtree(scratch)


def lock(stream: IO[Any], *, wait: bool = True) -> bool:
    """Lock an open file exclusively until it is closed; False where the file system has no locks.

    Raises BlockingIOError when ``wait`` is false and another process holds it.
    """
    try:
        fcntl.flock(stream, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return False
    return True


@contextmanager
def locked(path: Path | str, *, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock named by a file; the kernel releases it when the process ends, however it ends.

    Raises BlockingIOError when ``wait`` is false and another process holds it. The file is removed on release.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        stream = open(path, "a+")  # noqa: SIM115 (held until the lock is released)
        try:
            if not lock(stream, wait=wait):
                break  # those who write at once do so by renaming: the work is done twice, and nothing is lost
            if path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                break  # not a file that its holder removed while this process waited
        except BaseException:
            stream.close()
            raise
        stream.close()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # it is there, where there are locks
        stream.close()


def appeared(path: Path) -> bool:
    """Whether a file is there; one that another machine has made may take as long as --latency-wait to be seen."""
    end = time.monotonic() + float(os.environ.get("OUTAGEFL_LATENCY_WAIT", "0"))
    while not path.exists():
        if time.monotonic() >= end:
            return False
        os.listdir(next(folder for folder in path.parents if folder.is_dir()))  # some file systems look anew then
        time.sleep(0.2)
    return True


def write_json(path: Path | str, content: Any) -> None:
    """Write ``content`` as indented JSON, atomically."""
    with replacing(path) as new:
        new.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def checksum(path: Path | str, algorithm: str = "sha256") -> str:
    """The hex digest of a file's content."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()
