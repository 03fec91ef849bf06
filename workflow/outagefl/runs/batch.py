"""A training job: train those of its runs that do not exist yet, one after the other."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from outagefl.datasets import arrays
from outagefl.errors import DataError
from outagefl.files import locked, replacing
from outagefl.provenance.records import sealed
from outagefl.runs.choices import read_choice, with_value
from outagefl.runs.execute import execute
from outagefl.runs.plan import Run, is_finished, run_path
from outagefl.runs.provenance import checksums, provenance

log = logging.getLogger(__name__)


def _progress(name: str, rounds: int) -> Callable[[int, float], None]:
    """Log a line at most every two seconds and at the end: round, mean accuracy, time still needed."""
    start = last = time.monotonic()

    def report(round_: int, accuracy: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 2 or round_ == rounds:
            last = now
            eta = (now - start) / round_ * (rounds - round_)
            log.info("%s: round %d/%d, accuracy %.3f, ETA %.0f s", name, round_, rounds, accuracy, eta)

    return report


def _reports(spec: Mapping[str, Any]) -> int:
    """What a run counts in its reports: rounds, or evaluations where virtual time is what passes."""
    return int(spec["rounds"] if "rounds" in spec else spec["horizon"] // spec["evaluation"]["every"])


def train(path: str, run: Run, root: Path, device: str) -> None:
    """Train one run and put its folder in place by renaming it; nothing happens when it exists."""
    folder = root / path
    started = time.time()
    inputs = {what: root / where for what, where in run.inputs.items()}
    choice = read_choice(inputs.pop("choice"), run.spec) if "choice" in inputs else None
    spec = with_value(run.spec, choice["value"]) if choice else run.spec
    metrics = execute(spec, inputs, device, _progress(folder.name, _reports(spec)))
    table = pa.Table.from_pandas(metrics, preserve_index=False)
    with replacing(folder) as new:
        new.mkdir()
        pq.write_table(table, new / "metrics.parquet", compression="zstd")
        record = provenance(run, choice, arrays.load(inputs["dataset"]).note, device, started)
        record = sealed(record | checksums(path, new / "metrics.parquet", run, root))
        (new / "run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def train_missing(runs: Mapping[str, Run], root: Path, device: str) -> None:
    """Train the missing runs of a batch; safe against another process at the same runs, and against being killed.

    Raises DataError when the code no longer gives the planned addresses: results of new code must not get old names.
    """
    for path, run in runs.items():
        if run_path(run) != path:
            raise DataError(f"{path}: the code has changed since this job was planned; start Snakemake again")
        with locked(root / ".locks" / f"{os.path.basename(path)}.lock"):
            if is_finished(root / path):
                log.info("%s exists", path)
                continue
            if (root / path).exists():
                log.warning("%s lacks some of its files and is made again", path)
                shutil.rmtree(root / path)
            train(path, run, root, device)
