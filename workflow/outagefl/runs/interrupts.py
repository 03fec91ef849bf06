"""Signals that ask a training job to end: SIGTERM and SIGUSR1 (from a cluster, before it kills), SIGINT (Ctrl-C).

The first one ends the job at once, or, while it trains, as soon as every run has left its state to go on from. After
that Ctrl-C ends the process whatever it is doing; the others change nothing: Slurm sends SIGTERM twice at a time limit.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from outagefl.errors import OutageflError

SIGNALS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT)


class Interrupted(OutageflError):
    """A job that was asked to end; started again it goes on."""

    status = os.EX_TEMPFAIL


@dataclass
class _Process:
    asked: str = ""  # the name of the signal that came
    deferred: bool = False


_process = _Process()


def listen() -> None:
    """From now on signals are noted, but those that this process was started to ignore."""
    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _note)


def asked() -> str:
    """The name of the signal that asked this process to end; empty if none has."""
    return _process.asked


@contextmanager
def deferred() -> Iterator[None]:
    """Within this context a signal is only noted. Raises Interrupted before and after it where there is one by then."""
    _leave_if_asked()
    _process.deferred = True
    try:
        yield
    finally:
        _process.deferred = False
    _leave_if_asked()


def _note(number: int, _: object) -> None:
    if signal.getsignal(signal.SIGINT) is _note:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _process.asked = signal.Signals(number).name
    if not _process.deferred:
        _leave_if_asked()


def _leave_if_asked() -> None:
    if _process.asked:
        raise Interrupted(f"interrupted by {_process.asked}; the next start goes on")
