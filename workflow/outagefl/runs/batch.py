"""A training job: train those of its runs that do not exist yet, one after the other or several at once."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from outagefl.datasets import arrays
from outagefl.engines.checkpoint import Checkpoint
from outagefl.errors import DataError, OutageflError, TrainingError
from outagefl.files import locked, replacing
from outagefl.provenance.records import sealed
from outagefl.runs.checkpoints import RunCheckpoint, discard, key_of
from outagefl.runs.choices import read_choice, with_value
from outagefl.runs.execute import execute, read_input
from outagefl.runs.interrupts import Interrupted, deferred
from outagefl.runs.packs import setting
from outagefl.runs.plan import Run, checkpoint_file, is_finished, run_code, run_path
from outagefl.runs.provenance import checksums, device_name, provenance
from outagefl.training.devices import resolve
from outagefl.training.pack import Pack

log = logging.getLogger(__name__)

Reader = Callable[[str, Path], Any]


def _progress(name: str, rounds: int, checkpoint: Checkpoint) -> Callable[[int, float], None]:
    """Log a line at most every two seconds and at the end: round, mean accuracy, time still needed."""
    start = last = time.monotonic()

    def report(round_: int, accuracy: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 2 or round_ == rounds:
            last = now
            eta = (now - start) / (round_ - checkpoint.began) * (rounds - round_)
            log.info("%s: round %d/%d, accuracy %.3f, ETA %.0f s", name, round_, rounds, accuracy, eta)

    return report


def _reports(spec: Mapping[str, Any]) -> int:
    """What a run counts in its reports: rounds, or evaluations where virtual time is what passes."""
    return int(spec["rounds"] if "rounds" in spec else spec["horizon"] // spec["evaluation"]["every"])


def train(
    path: str,
    run: Run,
    root: Path,
    device: str,
    checkpoint_minutes: float = 0,
    read: Reader = read_input,
    packed: int = 1,
) -> None:
    """Train one run and put its folder in place by renaming it; nothing happens when it exists.

    ``checkpoint_minutes``: between checkpoints; 0 for one only when a signal asks this process to end, see
    ``interrupts``. ``packed``: how many runs are trained at once, this one included.
    """
    folder = root / path
    started = time.time()
    inputs = {what: root / where for what, where in run.inputs.items()}
    choice = read_choice(inputs.pop("choice"), run.spec) if "choice" in inputs else None
    spec = with_value(run.spec, choice["value"]) if choice else run.spec
    key, rounds = key_of(spec, run.inputs, run_code(run.spec), device_name(device)), _reports(spec)
    file = checkpoint_file(root, path)
    checkpoint = RunCheckpoint(file, key, rounds, checkpoint_minutes, packed)
    metrics = execute(spec, inputs, device, _progress(folder.name, rounds, checkpoint), read, checkpoint)
    table = pa.Table.from_pandas(metrics, preserve_index=False)
    with replacing(folder) as new:
        new.mkdir()
        pq.write_table(table, new / "metrics.parquet", compression="zstd")
        note, before = arrays.load(inputs["dataset"]).note, (checkpoint.resumed_from, checkpoint.seconds_before)
        record = provenance(run, choice, note, device, started, packed, *before)
        record = sealed(record | checksums(path, new / "metrics.parquet", run, root))
        (new / "run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    discard(file)


def train_missing(runs: Mapping[str, Run], root: Path, device: str, checkpoint_minutes: float = 0) -> None:
    """Train the missing runs of a batch; safe against another process at the same runs, and against being killed.

    On a CPU one after the other, so that every bit is that of the run alone; on a GPU those of one setting at once.

    Raises DataError when the code no longer gives the planned addresses: results of new code must not get old names.
    Raises Interrupted when a signal asked this process to end and every run in training has left a checkpoint.
    """
    packs: dict[str, list[str]] = {}
    apart = resolve(device).type == "cpu"
    for path, run in runs.items():
        packs.setdefault(path if apart else setting(run.spec), []).append(path)
    for paths in packs.values():
        train_pack({path: runs[path] for path in paths}, root, device, checkpoint_minutes)


def train_pack(runs: Mapping[str, Run], root: Path, device: str, checkpoint_minutes: float = 0) -> None:
    """Train the missing ones of these runs, which are of one setting, at once.

    A run that fails does not stop the others; its error, with its path, is raised when they have ended.
    """
    with ExitStack() as locks:
        for path in sorted(runs):  # in one order, so that two processes never wait for each other
            locks.enter_context(locked(root / ".locks" / f"{os.path.basename(path)}.lock"))
        missing = [path for path in runs if _is_missing(path, runs[path], root)]
        with deferred():
            if len(missing) == 1:
                train(missing[0], runs[missing[0]], root, device, checkpoint_minutes)
            elif missing:
                read = cache(read_input)  # what runs share is read once, and put on the device once
                how = (root, device, checkpoint_minutes, read, len(missing))
                jobs = [partial(train, path, runs[path], *how) for path in missing]
                _raise_failures(dict(zip(missing, Pack(len(jobs)).play(jobs), strict=True)))


def _is_missing(path: str, run: Run, root: Path) -> bool:
    if run_path(run) != path:
        raise DataError(f"{path}: the code has changed since this job was planned; start Snakemake again")
    if is_finished(root / path):
        log.info("%s exists", path)
        discard(checkpoint_file(root, path))  # left by a job that was killed between the run and this
        return False
    if (root / path).exists():
        log.warning("%s lacks some of its files and is made again", path)
        shutil.rmtree(root / path)
    return True


def _raise_failures(errors: Mapping[str, BaseException | None]) -> None:
    """Raise what runs failed with: users' errors as one, each with its path; otherwise the first that is not one.

    Runs that were interrupted have not failed, and are told of when there is nothing else.
    """
    ended = {path: error for path, error in errors.items() if error is not None}
    failed = {path: error for path, error in ended.items() if not isinstance(error, Interrupted)}
    for path, error in failed.items():
        log.error("%s failed", path, exc_info=None if isinstance(error, OutageflError) else error)
    for path, error in failed.items():
        if not isinstance(error, OutageflError):
            error.add_note(f"in {path}")
            raise error
    if failed:
        raise TrainingError("; ".join(f"{path}: {error}" for path, error in failed.items()))
    if ended:
        raise Interrupted("; ".join(map(str, ended.values())))
