"""One workflow at a time in a results folder."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
from pathlib import Path
from typing import TextIO

_held: list[TextIO] = []  # kept open, and so locked, until this process ends


def claim_workspace(root: Path) -> None:
    """Lock ``root`` for this process, or exit with one line that names who holds it.

    The kernel drops the lock when the process ends, even when it is killed: there is never a stale lock to remove.
    """
    root.mkdir(parents=True, exist_ok=True)
    stream = open(root / ".workflow.lock", "a+", encoding="utf-8")  # noqa: SIM115 (held for the life of the process)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.seek(0)
        sys.exit(
            f"outagefl: {root}/ is in use by {stream.read().strip() or 'another process'}; wait until it has finished"
        )
    stream.truncate(0)
    stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
    stream.flush()
    _held.append(stream)
