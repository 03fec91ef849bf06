"""One workflow at a time in a results folder."""

from __future__ import annotations

import os
import pwd
import socket
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TextIO

from outagefl.errors import DataError
from outagefl.files import lock

_held: dict[Path, TextIO] = {}  # kept open, and so locked, until this process ends


def require_folders(root: Path, notes: Path = Path(".snakemake")) -> None:
    """Raise DataError where ``root`` is no folder, or Snakemake cannot write its ``notes``."""
    if root.exists() and not root.is_dir():
        raise DataError(f"{root}: expected a folder for the results, found a file; move it: mv {root} {root}.old")
    if not os.access(kept := notes if notes.exists() else notes.parent, os.W_OK):
        told = f"cannot be written (it belongs to {_user(kept.stat().st_uid)}), and Snakemake keeps its notes there"
        raise DataError(f"{notes.absolute()}: {told}")


def claim_workspace(root: Path) -> None:
    """Lock ``root`` for this process, or exit with one line that says who holds it or why it cannot be written.

    The kernel drops the lock when the process ends, even when it is killed: there is never a stale lock to remove.
    A process that has it may ask again.
    """
    file = root / ".workflow.lock"
    if file.absolute() in _held:
        return
    try:
        stream = _opened(file)
        exclusive = lock(stream, wait=False)
    except BlockingIOError:
        who, *how = _read(file) or ["another process"]
        sys.exit(f"outagefl: {root}/ is in use by {who}; {', '.join(['wait until it has finished', *how])}")
    except OSError as error:
        refused = next(path for path in (file, root, root.absolute().parent) if path.exists())
        owner = f"; {refused} belongs to {_user(refused.stat().st_uid)}" if isinstance(error, PermissionError) else ""
        sys.exit(f"outagefl: {root}: the folder for the results cannot be written ({error.strerror}{owner})")
    if not exclusive:
        note = (
            "its file system has no locks: make sure that no other workflow is at work there "
            '(docs/cluster.md, "When something breaks")'
        )
        print(f"outagefl: note: {root}/: {note}", file=sys.stderr)
    pid, host, now = os.getpid(), socket.gethostname(), datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    stream.truncate(0)
    stream.write(f"process {pid} of {_user(os.getuid())} on {host} since {now}\n")
    stream.write(f"look at it there: ps -fp {pid}\nor end it there: kill {pid} (jobs that run are finished first)\n")
    stream.flush()
    _held[file.absolute()] = stream


def _opened(file: Path) -> TextIO:
    """The file of the lock; BlockingIOError where another user holds it, whose file this one may not write."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        return open(file, "a+", encoding="utf-8")
    except PermissionError:
        if os.access(file, os.R_OK):
            with open(file, encoding="utf-8") as stream:
                lock(stream, wait=False)
        raise


def _read(file: Path) -> list[str]:
    """The lines that the holder wrote, who may be about to write them."""
    for _ in range(20):
        if told := file.read_text(encoding="utf-8").splitlines():
            return told
        time.sleep(0.05)
    return []


def _user(number: int) -> str:
    """The name of a user, or the number where nobody has given a name, as in containers."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
