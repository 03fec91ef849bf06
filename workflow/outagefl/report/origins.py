"""How a result that is shown was made, as its record tells, and the command that makes it again."""

from __future__ import annotations

import csv
import hashlib
import math
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from outagefl.errors import DataError
from outagefl.fingerprint import SCRIPT
from outagefl.provenance.records import Record
from outagefl.provenance.tree import Tree

OPTIONS = ("options", "analysis", "settings")  # the parameters of rules that a reader may want to know
INDEX = "/runs.csv"
DIGITS = 12  # of checksums that are shown
PROGRAM = ".venv/bin/snakemake"  # from the workflow's folder, after make setup
PATH = "PATH"  # in place of one that means nothing on another machine


@dataclass(frozen=True)
class Origin:
    """What is told of a result: files made with it, the runs and other inputs behind it, code, circumstances."""

    files: list[str]
    indexes: list[str]
    runs: int
    inputs: list[str]
    options: dict[str, Any]
    code: str
    modules: list[str]
    commit: str
    began: str
    seconds: float
    machine: str
    command: str


def require_record(tree: Tree, path: str) -> Record:
    """The record of a result of a job; DataError, which names the file, where it is missing or cannot be used."""
    if record := tree.record(path):
        return record
    for file, error in tree.unsound.items():
        raise DataError(f"{file}: {error}; delete it and what it is of, and start the workflow again")
    raise DataError(f"{path}: no record says how it was made; delete it and start the workflow again")


def origin(record: Record, path: str, results: Path, given: Mapping[str, Any]) -> Origin:
    """What to tell of the result at ``path``, such as ``results/quick/claims.png``, and of its record.

    ``given``: the keys of ``to_be_given``.
    """
    indexes = [each for each in record.inputs if each.endswith(INDEX)]
    settings = record.content["settings"]
    return Origin(
        files=list(record.made),
        indexes=indexes,
        runs=len({run for each in indexes for run in _runs(results / each.removeprefix("results/"))}),
        inputs=[each for each in record.inputs if each not in indexes],
        options={key: value for name in OPTIONS for key, value in settings.get(name, {}).items()},
        code=hashlib.sha256(repr(sorted(record.code.items())).encode()).hexdigest()[:DIGITS],
        modules=[name.replace(SCRIPT, "workflow/scripts/") for name in record.code],
        commit=commit_name(record.content["commit"]),
        began=when(record.content["started"]),
        seconds=record.content["seconds"],
        machine=f"Python {record.content['python']} on {record.content['machine']}",
        command=command(path, given),
    )


def to_be_given(settings: Mapping[str, Any], main: Mapping[str, Any]) -> dict[str, Any]:
    """What a command has to give for these main ``settings``: scale, studies, and what is not as in ``main``.

    ``main`` is the content of ``config/config.yaml``. Paths out of the workflow's folder are PATH: no page tells how
    somebody's disk is laid out.
    """
    told = {key: settings[key] for key in ("scale", "studies")}
    told |= {key: value for key, value in settings.items() if value != main.get(key)}
    if "local" in told:
        told["local"] = {source: _place(path) for source, path in told["local"].items()}
    if "plugins" in told:
        told["plugins"] = list(map(_place, told["plugins"]))
    return told


def command(path: str, given: Mapping[str, Any]) -> str:
    """The command that makes a result again, to be typed in the workflow's folder."""
    return shlex.join([PROGRAM, "--cores", "2", "--force", path, "--config", *map(_key, given, given.values())])


def commit_name(commit: str | None) -> str:
    """A commit as readers know it; ``+`` at its end: the code was not quite that of the commit."""
    if commit is None:
        return "unknown (not a git repository)"
    return commit[:DIGITS] + (" with uncommitted changes" if commit.endswith("+") else "")


def when(started: str) -> str:
    """A time to be read, to the minute, UTC as in records."""
    return f"{datetime.fromisoformat(started):%Y-%m-%d %H:%M} UTC"


def _key(name: str, value: Any) -> str:
    """A key as a command line gives it: YAML in one line, which is that of a list without its brackets."""
    text = yaml.safe_dump([value], default_flow_style=True, width=math.inf, sort_keys=False, allow_unicode=True)
    return f"{name}={text.strip()[1:-1]}"


def _place(path: str) -> str:
    """A path for others to read."""
    outside = os.path.isabs(os.path.expanduser(path)) or os.path.normpath(path).startswith("..")
    return PATH if outside else path


def _runs(index: Path) -> set[str]:
    """The runs that an index lists; DataError for a file that is no index."""
    try:
        with index.open(newline="", encoding="utf-8") as stream:
            return {row["run"] for row in csv.DictReader(stream)}
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{index}: not an index of runs ({type(error).__name__}: {error})") from None
