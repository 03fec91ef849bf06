"""Records of how files were made: from what, by which code and when, with the checksums of all of it.

A job's record lies as its log does: ``results/provenance/…/<name>.json``, ``results/logs/…/<name>.log``; a
run's is its ``run.json``. Paths begin below the folder of the workflow (``results/…``, ``config/…``); what lies
elsewhere, such as a file given under ``local``, is called ``source``: no record tells how somebody's disk is laid out.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from outagefl.files import write_json
from outagefl.fingerprint import digests

PACKAGES = (
    *("torch", "torchvision", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "networkx", "pillow"),
    *("statsmodels", "matplotlib", "seaborn", "snakemake"),
)
SEAL = "seal"  # the key with the checksum of all others
OUTSIDE = "source"
IN_FILES = ("code", "rows", "always")  # parameters of a rule that are told otherwise, or are in the file itself
MARKERS = "results/.jobs/"  # what training jobs leave for others to see; empty

UNREADABLE = (OSError, BadZipFile, zlib.error, EOFError, RuntimeError)  # RuntimeError: encrypted, in an archive


@dataclass(frozen=True)
class Record:
    """How files were made: theirs and their inputs' checksums by path, and the digests of the code by module."""

    made: Mapping[str, str]
    inputs: Mapping[str, str]
    code: Mapping[str, str]
    content: Mapping[str, Any]


class UnsoundError(Exception):
    """A record that cannot be used; ``kind``: damaged, edited or unrecorded."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def checksum(path: Traversable) -> str:
    """SHA-256 of a file's content, or of the names and contents in a folder.

    Hidden files in folders do not count: Snakemake puts one into every folder that a job makes.
    """
    if path.is_dir():
        shown = sorted((each for each in path.iterdir() if not each.name.startswith(".")), key=lambda each: each.name)
        contents = [(each.name, checksum(each)) for each in shown]
        return hashlib.sha256(repr(contents).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """``content`` as JSON can hold it, with the checksum of it under SEAL: an edit by hand does not go unnoticed."""
    plain: dict[str, Any] = json.loads(json.dumps(content))
    return {**plain, SEAL: hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()}


def read(path: Traversable) -> Record:
    """The record in a file of a job or run; UnsoundError for one that is damaged, edited or without checksums."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        own = {key: value for key, value in content.items() if key != SEAL}
        seal = sealed(own)[SEAL]
    except (*UNREADABLE, ValueError, AttributeError) as error:
        raise UnsoundError("damaged", f"not the record of a job or run ({error})") from None
    if SEAL not in content:
        raise UnsoundError("unrecorded", "its record holds no checksums, such as one of an earlier version")
    if content[SEAL] != seal:
        raise UnsoundError("edited", "its content is not what was recorded")
    return Record(content["made"], content["from"], content["code"], content)


@cache
def _commit() -> str | None:
    """The commit of the code, with ``+`` where the working tree differs; None outside a repository."""
    try:
        run = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=40", "--dirty=+"]
        return subprocess.run(run, capture_output=True, encoding="utf-8", check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


@cache
def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def circumstances(started: float) -> dict[str, Any]:
    """Commit, packages, machine and time of what began at ``started`` (seconds since the epoch) and ends now."""
    return {
        "commit": _commit(),
        "packages": _packages(),
        "python": platform.python_version(),
        "machine": platform.platform(),
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 2),
    }


def record_file(log: str) -> Path:
    """Where the record of a job lies whose log is ``results/logs/…/<name>.log``."""
    return Path(log.replace("results/logs/", "results/provenance/", 1)).with_suffix(".json")


def _named(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Paths with what they are called in records."""
    for path in paths:
        outside = os.path.isabs(path) or os.path.normpath(path).startswith("..")
        yield OUTSIDE if outside else path, path


def write_record(job: Any, inputs: Iterable[str], started: float) -> None:
    """Write the record of a finished job, Snakemake's object of its script; ``inputs``: others than the rule's.

    Raises DataError when the code is no longer what the job was planned with.
    """
    paths = [path for path in (*job.input, *inputs) if not path.startswith(MARKERS)]
    content = {
        "rule": job.rule,
        "wildcards": dict(job.wildcards.items()),
        "settings": {key: value for key, value in job.params.items() if key not in IN_FILES},
        "made": {path: checksum(Path(path)) for path in job.output},
        "from": {name: checksum(Path(path)) for name, path in _named(paths)},
        "code": digests(job.params.code),
        **circumstances(started),
    }
    write_json(record_file(job.log[0]), sealed(content))
