"""Why something would be run: what sets missing runs apart from finished ones, and Snakemake's reasons in plain words.

What would be run is read from Snakemake's dry run, so it is what the same command without ``-n`` does.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from outagefl import config
from outagefl.errors import ConfigError, DataError, unknown
from outagefl.fingerprint import changed
from outagefl.plugins import folders
from outagefl.provenance.records import UnsoundError, read, record_file
from outagefl.runs.configured import configured
from outagefl.runs.jobs import Jobs, plan_jobs
from outagefl.runs.plan import Plan, Run, run_code

ROOT = Path("results")
PLAIN = {  # how Snakemake's reasons begin → how they are said here; the rest of a reason lists files
    "Missing output files": "there is none yet",
    "Input files updated by another job": "made from what is made anew: {}",
    "Updated input files": "made before its input was changed: {}",
    "Incomplete output files": "left half made when a job was killed",
    "Set of input files has changed since last execution": "made from other files than now",
    "Software environment definition has changed since last execution": "the environment it is made in has changed",
}


def _told(values: Iterable[object], most: int = 3) -> str:
    """The first values and how many more there are."""
    listed = [str(value) for value in values]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def changes(old: Any, new: Any) -> Iterator[str]:
    """Where two specs or settings differ: ``training.steps: 3 → 5``, with ``nothing`` for what one of them lacks."""
    for key, *values in config.differences(old, new):
        before, now = ("nothing" if value is None else str(value) for value in values)
        yield f"{key}: {before} → {now}" if key else f"{before} → {now}"


def differences(record: Mapping[str, Any], run: Run) -> list[str]:
    """What sets a run apart from a finished one, given by its ``run.json``."""
    found = list(changes(record["spec"], run.spec))
    code, recorded = run_code(run.spec), record["code"]
    if edited := sorted(name for name in code.keys() | recorded.keys() if code.get(name) != recorded.get(name)):
        since = f" since commit {record['commit'][:8]}" if record.get("commit") else ""
        found.append(f"code{since}: {_told(edited, 8)}")
    kinds = run.inputs.keys() | record["inputs"].keys()
    if made_anew := sorted(kind for kind in kinds if run.inputs.get(kind) != record["inputs"].get(kind)):
        found.append(f"other inputs: {', '.join(made_anew)}")
    return found


def _record(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{file}: not readable as JSON ({error}); delete {file.parent} and run again") from None


def why_run(path: str, run: Run, root: Path) -> str:
    """Why a missing run has to be trained: what sets it apart from the nearest finished run of its setting and seed.

    Those are the runs whose folders differ from its own in the address alone.
    """
    folder = root / path
    if folder.exists():
        lost = [name for name in ("metrics.parquet", "run.json") if not (folder / name).is_file()]
        return f"its folder lacks {' and '.join(lost)}"
    setting = folder.name.rpartition("-")[0]
    found = [differences(_record(file), run) for file in folder.parent.glob(f"{setting}-????????/run.json")]
    if found:
        nearest: list[str] = min(found, key=len)
        return "new; the nearest finished run has " + "; ".join(nearest)
    others = folder.parent.glob(f"{re.sub('-s[0-9]+$', '', setting)}-s*-????????/run.json")
    seeds = sorted({int(file.parent.name.split("-")[-2][1:]) for file in others})
    return f"new; no such run with this seed (finished: {_told(seeds, 8)})" if seeds else "new; no such run is finished"


def planned(output: str) -> Iterator[dict[str, str]]:
    """The jobs of a dry run: ``rule`` and what Snakemake tells of it, such as ``output`` and ``reason``."""
    for block in re.split(r"^(?=(?:local)?rule \w+:$)", output, flags=re.MULTILINE)[1:]:
        fields = re.findall(r"^    (\w+): (.*)$", block, flags=re.MULTILINE)
        yield {"rule": block[: block.index(":")].split()[-1], **dict(fields)}


def _literals(text: str) -> list[Any]:
    """The parameters that Snakemake lists, or their text where they cannot be read back."""
    try:
        return list(ast.literal_eval(f"[{text}]")) if text != "<nothing exclusive>" else []
    except (ValueError, SyntaxError):
        return [text]


def _is_code(value: object) -> bool:
    return isinstance(value, Mapping) and "digest" in value


def _edited(log: str) -> list[str]:
    """Modules and scripts that have changed since a job with this log was done, as its record has them."""
    try:
        return sorted(changed(read(record_file(log)).code, own=folders()))
    except UnsoundError:
        return []


def _parameters(text: str, log: str) -> str:
    """What changed, from Snakemake's text of the parameters that a file had before and has now, code among them."""
    match = re.fullmatch(r".*?before: (.*) now: (.*?)\s*", text)
    old, new = (_literals(part) for part in match.groups()) if match else ([], [])
    told = []
    if any(map(_is_code, old)):
        edited = _edited(log)
        told.append(f"code: {_told(edited, 8)}" if edited else "code")
    rest = [[value for value in values if not _is_code(value)] for values in (old, new)]
    for before, now in zip(*(sorted(values, key=lambda value: type(value).__name__) for values in rest), strict=False):
        told += [f"settings: {change}" for change in changes(before, now)]
    return "made with other " + "; ".join(told or ["settings"])


def plain(reason: str, log: str) -> str:
    """A reason of Snakemake's in plain words; ``log``: that of the job."""
    if reason.startswith("Missing output files"):
        return PLAIN["Missing output files"]  # whatever else there is to say
    told = []
    for part in re.split(r"; (?=[A-Z][a-z]+ )", reason):
        begin, _, rest = part.partition(": ")
        if begin == "Params have changed since last execution":
            told.append(_parameters(rest, log))
        else:
            told.append(PLAIN.get(begin, part).format(_told(rest.split(", "))))
    return "; ".join(told)


def _files(plan: Plan, scale: str, target: str | None) -> list[str]:
    """The files that a target stands for: those of an experiment, or the target itself; ConfigError for neither."""
    if target and target not in plan.experiments and not target.removeprefix("./").startswith("results/"):
        raise ConfigError(f"{target}: {unknown('experiment', target, plan.experiments)}; or a file below results/")
    if target not in plan.experiments:
        return [target] if target else []
    return [f"results/{scale}/{target}/{file}" for file in plan.experiments[target].files()]


def _dry_run(targets: list[str], settings: list[str]) -> str:
    """What a dry run prints; ConfigError with what Snakemake says where it cannot plan."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", *targets, *(["--config", *settings] if settings else [])]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        own = [line.removeprefix("outagefl: ") for line in lines if line.startswith("outagefl: ")]
        raise ConfigError(own[-1] if own else "Snakemake cannot plan this: " + " ".join(lines[-3:]))
    return done.stdout + done.stderr


def _why_jobs(jobs: Iterable[Mapping[str, str]], plan: Plan, decided: Jobs) -> dict[str, list[str]]:
    """Reason → what would be run for it: runs by their folders, other files by their names."""
    found: dict[str, list[str]] = {}
    for job in jobs:
        if job["rule"] == "train":
            name = job["wildcards"].removeprefix("job=")
            if name not in decided.runs:
                raise DataError(f"{ROOT}: results have changed meanwhile; ask again")
            for path in decided.runs[name]:
                found.setdefault(f"train: {why_run(path, plan.runs[path], ROOT)}", []).append(path)
        elif "output" in job and job["rule"] != "run":
            why = "its runs are other ones than listed" if job["rule"] == "index" else ""
            if not why or "Params" not in job["reason"]:
                why = plain(job["reason"], job["log"])
            found.setdefault(f"{job['rule']}: {why}", []).append(job["output"].split(", ")[0])
    return found


def explain(target: str | None, settings: list[str]) -> str:
    """What would be run for a target and why, in lines to be read.

    ``target``: a file below ``results``, an experiment such as ``sfg/outages``, or None for everything; ``settings``:
    keys of the configuration as for Snakemake's ``--config``. Snakemake's dry run is asked in the current folder.
    """
    resolved, plan = configured(config.given(settings))
    decided = plan_jobs(plan, ROOT, resolved["scale"], resolved["runs_per_job"])
    found = _why_jobs(planned(_dry_run(_files(plan, resolved["scale"], target), settings)), plan, decided)
    if not found:
        return f"Nothing would be run: {target or 'everything'} is there, made with this configuration, code and data."
    lines = [f"{len(made)} × {why}\n    {_told(made)}" for why, made in found.items()]
    return "\n".join(lines)
