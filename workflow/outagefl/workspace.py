"""One workflow at a time in a results folder."""

from __future__ import annotations

import getpass
import os
import socket
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TextIO

from outagefl.errors import DataError
from outagefl.files import lock

_held: list[TextIO] = []  # kept open, and so locked, until this process ends


def require_folders(root: Path, notes: Path = Path(".snakemake")) -> None:
    """Raise DataError where ``root`` is no folder, or Snakemake cannot write its ``notes``."""
    if root.exists() and not root.is_dir():
        raise DataError(f"{root}: expected a folder for the results, found a file; move it: mv {root} {root}.old")
    if not os.access(notes if notes.exists() else notes.parent, os.W_OK):
        raise DataError(f"{notes.absolute()}: cannot be written, and Snakemake keeps its notes there")


def claim_workspace(root: Path) -> None:
    """Lock ``root`` for this process, or exit with one line that says who holds it or why it cannot be written.

    The kernel drops the lock when the process ends, even when it is killed: there is never a stale lock to remove.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        stream = open(root / ".workflow.lock", "a+", encoding="utf-8")  # noqa: SIM115 (held for the process's life)
    except OSError as error:
        owner = f", it belongs to {root.owner()}" if isinstance(error, PermissionError) and root.exists() else ""
        sys.exit(f"outagefl: {root}: the folder for the results cannot be written ({error.strerror}{owner})")
    try:
        exclusive = lock(stream, wait=False)
    except BlockingIOError:
        who, *how = _read(stream) or ["another process"]
        sys.exit(f"outagefl: {root}/ is in use by {who}; {', '.join(['wait until it has finished', *how])}")
    if not exclusive:
        note = "its file system has no locks: make sure that no other workflow is at work there"
        print(f"outagefl: note: {root}/: {note}", file=sys.stderr)
    pid, host, now = os.getpid(), socket.gethostname(), datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    stream.truncate(0)
    stream.write(f"process {pid} of {getpass.getuser()} on {host} since {now}\n")
    stream.write(f"look at it there: ps -fp {pid}\nor end it there: kill {pid} (jobs that run are finished first)\n")
    stream.flush()
    _held.append(stream)


def _read(stream: TextIO) -> list[str]:
    """The lines that the holder wrote, who may be about to write them."""
    for _ in range(20):
        stream.seek(0)
        if told := stream.read().splitlines():
            return told
        time.sleep(0.05)
    return []
