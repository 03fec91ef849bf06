"""From the plan to jobs: what is missing, in which batches, and which experiments must be indexed anew.

Runs are not declared as outputs of a rule, so that no workflow engine can delete them. Only the main process decides on
batches; it writes each one to ``.jobs/<job>.json``, from which the job itself (perhaps on another machine) reads it.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from outagefl.errors import DataError
from outagefl.files import SCRATCH, appeared, write_json
from outagefl.fingerprint import SCRIPTS, closure
from outagefl.provenance.records import UnsoundError, checksum, read
from outagefl.runs.plan import Experiment, Plan, Run, batches, is_finished, short_hash


@dataclass(frozen=True)
class Jobs:
    """Batches of missing runs by job, and the other way round; indexes missing or out of date; choices missing."""

    runs: dict[str, list[str]]
    of: dict[str, str]
    stale: list[str]
    choices: list[str]


def job_file(root: Path, job: str) -> Path:
    """Where the runs of a job are written down."""
    return root / ".jobs" / f"{job}.json"


def marker(root: Path, job: str) -> Path:
    """What a finished job leaves until its experiments are indexed."""
    return root / ".jobs" / f"{job}.done"


def markers(jobs: Jobs, root: Path, runs: Iterable[str]) -> list[str]:
    """What the jobs leave that train those of these runs that are missing."""
    return sorted({str(marker(root, jobs.of[run])) for run in runs if run in jobs.of})


def _job_name(root: Path, plan: Plan, batch: list[str]) -> str:
    """A name no earlier job left a marker under (it would be taken as done, though its runs are gone)."""
    spec = plan.runs[batch[0]].spec
    for attempt in count():
        name = f"{spec['study']}-{spec['dataset']['kind']}-{short_hash([attempt, *batch])}"
        if not marker(root, name).exists():
            return name
    raise AssertionError("unreachable")


def index_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """The rows of an experiment's ``runs.csv``, without checksums."""
    return [
        {
            "study": experiment.study,
            "experiment": experiment.name,
            **member.factors,
            "method": member.method,
            "seed": str(member.seed),
            "run": run,
        }
        for run, member in experiment.members
    ]


def _is_stale(index: Path, record: Path, rows: list[dict[str, Any]], missing: set[str]) -> bool:
    """Whether an index must be written: it is missing, names other runs, was edited, or is made otherwise by now."""
    if not index.exists() or any(row["run"] in missing for row in rows) or not _is_as_made(index, record):
        return True
    with index.open(newline="", encoding="utf-8") as stream:
        found = [{key: value for key, value in row.items() if key != "checksum"} for row in csv.DictReader(stream)]
    return found != rows


def _is_as_made(file: Path, record: Path) -> bool:
    try:
        known = read(record)
    except UnsoundError:
        return False
    return checksum(file) in known.made.values() and known.code == closure([], [SCRIPTS / "index.py"])


def plan_jobs(plan: Plan, root: Path, scale: str, runs_per_job: int) -> Jobs:
    """Compare the plan with what exists below ``root``, the results folder."""
    missing = [path for path in plan.runs if not is_finished(root / path)]
    runs = {_job_name(root, plan, batch): batch for batch in batches(plan, missing, runs_per_job)}
    of = {path: job for job, batch in runs.items() for path in batch}
    stale = [
        name
        for name, experiment in plan.experiments.items()
        if _is_stale(
            root / scale / name / "runs.csv",
            root / "provenance" / "index" / scale / f"{name}.json",
            index_rows(experiment),
            set(of),
        )
    ]
    return Jobs(runs, of, stale, [path for path in plan.choices if not (root / path).exists()])


def finished(plan: Plan, jobs: Jobs, scale: str) -> dict[str, list[str]]:
    """The files of runs, choices and indexes that are there and up to date: pattern below the results → its values."""
    return {
        "runs/{finished}/metrics.parquet": [path.removeprefix("runs/") for path in plan.runs if path not in jobs.of],
        "choices/{finished}.json": [
            path.removeprefix("choices/").removesuffix(".json") for path in plan.choices if path not in jobs.choices
        ],
        f"{scale}/{{finished}}/runs.csv": [name for name in plan.experiments if name not in jobs.stale],
    }


def require_sources(plan: Plan, root: Path) -> None:
    """Raise DataError naming all files that would have to be downloaded for inputs that are missing below ``root``."""
    made = {each.source for path, each in plan.inputs.items() if each.source and not (root / path).exists()}
    missing = {name: [str(path) for path in plan.sources[name].paths if not path.exists()] for name in sorted(made)}
    if told := "; ".join(f"{name}: {', '.join(files)}" for name, files in missing.items() if files):
        raise DataError(
            f"config: offline: true forbids to download what is missing ({told}); put the files there (addresses: "
            "config/sources.yaml), set the key `local` for these sources to copies you have (forms: docs/data.md), or "
            "set offline to false"
        )


def write_jobs(plan: Plan, jobs: Jobs, root: Path) -> None:
    """Write down the runs of every job, atomically."""
    for job, batch in jobs.runs.items():
        write_json(job_file(root, job), {path: asdict(plan.runs[path]) for path in batch})


def read_job(root: Path, job: str) -> dict[str, Run]:
    """The runs of a job by path; DataError when nothing was planned under that name."""
    path = job_file(root, job)
    appeared(path)
    try:
        return {run: Run(**content) for run, content in json.loads(path.read_text(encoding="utf-8")).items()}
    except FileNotFoundError:
        raise DataError(f"{path}: no such job was planned; start Snakemake again") from None


def forget_jobs(plan: Plan, root: Path) -> None:
    """Remove what finished and killed jobs left, unless runs are still missing; called when a workflow ends."""
    if not all(is_finished(root / path) for path in plan.runs):
        return
    for path in root.rglob(f"{SCRATCH}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in (root / ".jobs").glob("*.*"):
        path.unlink(missing_ok=True)
