"""What every workflow script shares: output goes to the job's log, a user's error is one line without a traceback.

What a script makes is recorded (``outagefl.provenance.records``).
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from outagefl.errors import OutageflError
from outagefl.provenance.allocation import allocation
from outagefl.provenance.records import write_record

SCARCE = 100e6  # bytes free on a disk that counts as full


@contextmanager
def recorded(job: Any, inputs: Iterable[str] = ()) -> Iterator[None]:
    """Run the body as ``logged`` does, then record how the outputs of ``job`` (Snakemake's object) were made.

    ``inputs``: what the body reads beside the inputs of the rule.
    """
    started = time.time()
    with logged(job.log[0]):
        yield
        write_record(job, inputs, started)


@contextmanager
def logged(log: str) -> Iterator[None]:
    """Send output and errors of the body to the file ``log``; leave with its status on a user's or machine's error."""
    screen = os.dup(2)
    with open(log, "w", encoding="utf-8") as stream:
        for descriptor in (1, 2):
            os.dup2(stream.fileno(), descriptor)
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("outagefl").setLevel(logging.INFO)
    if given := allocation():
        logging.getLogger("outagefl").info("on %s", ", ".join(f"{name}={value}" for name, value in given.items()))
    try:
        yield
    except OutageflError as error:
        _leave(str(error), screen, error.status)
    except MemoryError as error:
        _leave(f"not enough memory: {error or 'the input asks for more than there is'}", screen)
    except OSError as error:
        _leave(_of_machine(error), screen)


def _of_machine(error: OSError) -> str:
    """What the machine refused; where a disk is full, which some libraries tell without a number, what is free."""
    free = {}
    for place in ("results", os.environ.get("TMPDIR", "/tmp")):
        with suppress(OSError):
            free[place] = shutil.disk_usage(place).free
    if error.errno not in (errno.ENOSPC, errno.EDQUOT) and (
        error.errno or min(free.values(), default=SCARCE) >= SCARCE
    ):
        return str(error)
    told = ", ".join(f"{count / 1e6:,.0f} MB in {place}" for place, count in free.items())
    return f"{error}; free: {told}; make space, then start the same command again"


def _leave(message: str, screen: int, status: int = 1) -> NoReturn:
    """Tell the error in the log, or on the screen where the log cannot be written, and exit."""
    line = f"outagefl: {message}\n"
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except OSError:
        os.write(screen, line.encode())
    sys.exit(status)
