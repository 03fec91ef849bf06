"""What every workflow script shares: output goes to the job's log, a user's error is one line without a traceback."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from outagefl.errors import OutageflError


@contextmanager
def logged(log: str) -> Iterator[None]:
    """Send output and errors of the body to the file ``log``; leave with status 1 on a user's or machine's error."""
    with open(log, "w") as stream:
        for descriptor in (1, 2):
            os.dup2(stream.fileno(), descriptor)
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("outagefl").setLevel(logging.INFO)
    try:
        yield
    except MemoryError as error:
        sys.exit(f"outagefl: not enough memory: {error or 'the input asks for more than there is'}")
    except (OutageflError, OSError) as error:  # an OSError is the machine's: disk full, no permission
        sys.exit(f"outagefl: {error}")
