"""Checkpoints of training: when a run leaves its state, and whether what was left can be gone on from."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from outagefl.config import differences
from outagefl.engines.checkpoint import Checkpoint
from outagefl.runs import interrupts
from outagefl.runs.checkpoint_file import UnusableError, read, write
from outagefl.runs.interrupts import Interrupted

log = logging.getLogger(__name__)

FORMAT = 1  # raise it when the layout of the file changes
SHARE = 20  # a run trains for at least this many times as long as the last checkpoint of it took


class RunCheckpoint(Checkpoint):
    """The checkpoint of one run, in a file that is there while the run is not finished.

    resumed_from: the rounds at which the run has been gone on from. seconds_before: how long it had trained for the
    last of them, work that was lost left out.
    """

    def __init__(self, file: Path, key: Mapping[str, Any], rounds: int, minutes: float, packed: int = 1) -> None:
        """``key``: all that the bits of the state depend on, as JSON has it; see ``key_of``.

        rounds: of the run. minutes: between checkpoints; with 0 there is one only when the process is asked to end.
        packed: how many runs wait while this one is written.
        """
        self._file, self._key, self._rounds = file, json.loads(json.dumps(key)), rounds
        self._seconds, self._pause = 60 * minutes or math.inf, SHARE * packed
        self._started = time.monotonic()
        self._due = self._started + self._seconds
        self._kept: int | None = None  # the round after which the file was written
        self.resumed_from: list[int] = []
        self.seconds_before = 0.0

    def resume(self, *classes: type) -> Any:
        """What is in the file; None, with a warning, where that is of another run or damaged."""
        state = None
        try:
            header, state = read(self._file, self._require_same, classes)
        except FileNotFoundError:
            pass
        except (UnusableError, OSError) as error:
            log.warning("%s: %s; not used, training starts again", self._file, error)
        else:
            self.began = self._kept = header["round"]
            self.resumed_from = [*header["resumed_from"], self.began]
            self.seconds_before = header["seconds"]
            log.info("%s goes on from round %d/%d", self._file.stem, self.began, self._rounds)
        self._leave_if_asked()
        return state

    def offer(self, round_number: int, state: object) -> None:
        """Write a checkpoint when it is time; when the process was asked to end, at once, and raise Interrupted."""
        if not interrupts.asked() and time.monotonic() < self._due:
            return
        begun = time.monotonic()
        header = {
            "key": self._key,
            "round": round_number,
            "seconds": round(self.seconds_before + begun - self._started, 2),
            "resumed_from": self.resumed_from,
        }
        try:
            size = write(self._file, header, state)
        except OSError as error:  # of the machine, such as a full disk: training goes on
            log.warning("%s: no checkpoint after round %d: %s", self._file, round_number, error)
        else:
            self._kept = round_number
            took = time.monotonic() - begun
            log.info("%s: checkpoint, %.1f MB in %.2f s", self._file.stem, size / 1e6, took)
        self._due = time.monotonic() + max(self._seconds, self._pause * (time.monotonic() - begun))
        self._leave_if_asked()

    def _leave_if_asked(self) -> None:
        if signal := interrupts.asked():
            then = "starts again" if self._kept is None else f"goes on from round {self._kept}/{self._rounds}"
            raise Interrupted(f"interrupted by {signal}; {self._file.stem} {then} at the next start")

    def _require_same(self, header: Mapping[str, Any]) -> None:
        found = [f"{key} {old} instead of {new}" for key, old, new in differences(header["key"], self._key)]
        if found:
            more = f" and {len(found) - 3} more" if len(found) > 3 else ""
            raise UnusableError(f"made with {', '.join(found[:3])}{more}")


def discard(file: Path) -> None:
    """Remove the checkpoint of a run that is finished; where that cannot be done, the run is finished all the same."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        log.warning("%s: not removed, though its run is finished: %s", file, error)


def key_of(spec: Mapping[str, Any], inputs: Mapping[str, str], code: Mapping[str, str], device: str) -> dict[str, Any]:
    """What two sittings of a run must have in common: its spec as trained, inputs, code, packages and device.

    On a CPU the bits depend on nothing else. How many runs share a GPU is no part of it: there the last bits depend on
    them in any case, and one that is finished must not void the others' checkpoints.
    """
    versions = {"torch": torch.__version__, "numpy": np.__version__}
    return {"format": FORMAT, "device": device, **versions, "spec": spec, "inputs": inputs, "code": code}
