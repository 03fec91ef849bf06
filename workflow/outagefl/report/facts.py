"""What was run, on what and how long: the facts of the first page, from the records behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from outagefl.provenance.records import Record
from outagefl.provenance.tree import Tree
from outagefl.report.origins import commit_name, when

RUNS, CHOICES = "results/runs/", "results/choices/"
PACKAGES = ("torch", "numpy", "snakemake")  # whose versions are told; records have all


@dataclass(frozen=True)
class Fact:
    """A line of the first page: what it is about, and what there is to say, each in a line of its own."""

    about: str
    told: list[str]


def records_behind(tree: Tree, shown: Iterable[str]) -> dict[str, Record]:
    """The records of the results that are ``shown`` and of all that they were made from, by the path of what each made.

    Raises DataError for the bad record of a run, which it names.
    """
    found = {path: tree.record(path) for path in sorted(tree.behind(shown))}
    return {path: record for path, record in found.items() if record}


def facts(records: Mapping[str, Record], compared: Iterable[str], configuration: Mapping[str, Any]) -> list[Fact]:
    """The facts of a scale. ``records``: of all results and of what they were made from, by a path that each made.

    ``compared``: paths of the metrics of runs that experiments have. ``configuration``: the resolved one, as it is
    among the results.
    """
    runs = {path: record.content for path, record in records.items() if path.startswith(RUNS)}
    specs = {path: run["spec"] for path, run in runs.items()}
    wanted = set(compared)
    tried = {path for made, record in records.items() if made.startswith(CHOICES) for path in record.inputs}
    every = [record.content for record in records.values()]
    begins = [datetime.fromisoformat(each["started"]) for each in every]
    ends = [begin + timedelta(seconds=each["seconds"]) for begin, each in zip(begins, every, strict=True)]
    trained = sum(training_seconds(each) for each in runs.values())
    whole = (max(ends) - min(begins)).total_seconds()
    told = {
        "Runs": [_of_study(name, specs, wanted, tried) for name in configuration["studies"]],
        "Data": _each(_data(run["spec"]) for run in runs.values()),
        "Notes on the data": _each(run["data_note"] for run in runs.values()),
        "Device": _each(run["device"] for run in runs.values()),
        "Machine": _each(each["machine"] for each in every),
        "Versions": _each(_versions(each) for each in every),
        "Code": _each(f"commit {commit_name(each['commit'])}" for each in every),
        "Began": [when(min(begins).isoformat())],
        "Time": [
            f"{duration(trained)} of training; {duration(whole)} from the first job's start to the last one's end"
        ],
        "Configuration": [f"results/{configuration['scale']}/config.yaml, every number in it"],
    }
    return [Fact(about, lines) for about, lines in told.items() if lines]


def training_seconds(run: Mapping[str, Any]) -> float:
    """How long a run was trained, interruptions included; runs that shared a device share its time."""
    return float((run["seconds"] + run.get("seconds_before", 0)) / run.get("packed_runs", 1))


def duration(seconds: float) -> str:
    """A time span to be read: ``42 s``, ``7 min``, ``1 h 05 min``, ``3 d 4 h``."""
    minutes, hours = round(seconds / 60), round(seconds / 3600)
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if minutes < 60:
        return f"{minutes} min"
    if hours < 48:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def seeds_in_words(seeds: Iterable[int]) -> str:
    """``5 seeds (0–4)``, or the seeds one by one where they are no range."""
    ordered = sorted(set(seeds))
    if ordered == list(range(ordered[0], ordered[-1] + 1)) and len(ordered) > 1:
        return f"{len(ordered)} seeds ({ordered[0]}–{ordered[-1]})"
    return f"{len(ordered)} seed{'s' if len(ordered) > 1 else ''} ({', '.join(map(str, ordered))})"


def _of_study(name: str, specs: Mapping[str, Mapping[str, Any]], compared: set[str], tried: set[str]) -> str:
    """A study's runs in words: those that are ``compared``, and those that were ``tried`` to choose a value."""
    own = {path: spec for path, spec in specs.items() if spec["study"] == name}
    mine = own.keys() & compared
    if not mine:
        return f"{name}: none"
    rest = len(own.keys() & tried)
    more = f", and {rest:,} on validation seeds, from which values were chosen" if rest else ""
    return f"{name}: {len(mine):,} runs, {seeds_in_words(own[path]['seed'] for path in mine)}{more}"


def _data(spec: Mapping[str, Any]) -> str:
    return str(spec["dataset"]["kind"])


def _versions(record: Mapping[str, Any]) -> str:
    packages = [f"{name} {record['packages'][name]}" for name in PACKAGES if name in record["packages"]]
    return ", ".join([f"Python {record['python']}", *packages])


def _each(values: Iterable[str]) -> list[str]:
    """What there is to say, each once, in the order of first mention."""
    return list(dict.fromkeys(filter(None, values)))
