"""Runs, inputs, choices and checkpoints that nothing asks for any more."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from outagefl.errors import DataError
from outagefl.files import SCRATCH, lock
from outagefl.provenance.tree import Tree
from outagefl.runs.configured import configured
from outagefl.runs.plan import CHECKPOINTS, is_finished

KINDS = {"run": "runs/*/*", "choice": "choices/*/*.json", "input": "inputs/*/*"}
REMNANT = "remnant of a killed job"


@dataclass(frozen=True)
class Orphan:
    """A file or folder that nothing asks for: what it is, its size in bytes and when it was made."""

    kind: str
    path: Path
    size: int
    made: datetime


def wanted(given: Mapping[str, Any], folder: Path) -> set[str]:
    """What any experiment of any study at any scale asks for, by path below the results folder.

    ``given`` is laid over ``config.yaml`` in ``folder``; it says which scale and which studies in vain. Raises what
    planning raises: where one scale cannot be planned, nothing can be said to be an orphan.
    """
    studies = sorted(path.stem for path in (folder / "studies").glob("*.yaml"))
    found: set[str] = set()
    for scale in sorted((folder / "scales").glob("*.yaml")):
        _, plan = configured({**given, "scale": scale.stem, "studies": studies}, folder)
        found |= {*plan.runs, *plan.inputs, *plan.choices}
    return found


def named(results: Path) -> set[str]:
    """What results that exist were made from, by path below the results folder, whatever the configuration says now.

    Raises DataError where a record that could name something cannot be read.
    """
    tree = Tree(results, results.parent)
    for path, error in tree.unsound.items():
        raise DataError(f"{path}: {error}; see `outagefl verify`")
    made = [path for scale in tree.scales() for path in tree.made(scale) if tree.exists(path)]
    behind = {path.removeprefix("results/") for path in tree.behind(made)}
    return {path.removesuffix("/metrics.parquet") for path in behind}


def orphans(results: Path, asked_for: set[str]) -> Iterator[Orphan]:
    """All runs, choices and inputs but those asked for, and what killed jobs left; the oldest of a kind first.

    A checkpoint is asked for as its run is, while that is not finished.
    """
    for kind, pattern in KINDS.items():
        paths = [path for path in results.glob(pattern) if not path.name.startswith(".")]
        unasked = [path for path in paths if path.relative_to(results).as_posix() not in asked_for]
        yield from sorted((_orphan(kind, path) for path in unasked), key=lambda each: each.made)
    for path in sorted((results / CHECKPOINTS).glob("*/*.pt")):
        run = f"runs/{path.relative_to(results / CHECKPOINTS).with_suffix('')}"
        if run not in asked_for or is_finished(results / run):
            yield _orphan("checkpoint", path)
    yield from (_orphan(REMNANT, path) for path in sorted(results.rglob(f"{SCRATCH}*")))


def _orphan(kind: str, path: Path) -> Orphan:
    files = [path, *path.rglob("*")]
    size = sum(file.lstat().st_size for file in files if file.is_file())
    return Orphan(kind, path, size, datetime.fromtimestamp(path.lstat().st_mtime))


def busy(results: Path) -> str | None:
    """The lock of a training job that goes on though its workflow was killed; None where there is none."""
    for path in sorted((results / ".locks").glob("*.lock")):
        try:
            with path.open("rb") as stream:
                lock(stream, wait=False)
        except BlockingIOError:
            return str(path)
        except FileNotFoundError:  # released by now
            continue
    return None


def remove(found: Iterable[Orphan], results: Path) -> None:
    """Delete orphans, and the records of those that were made by a job of their own."""
    tree = Tree(results, results.parent)
    for each in found:
        record = None
        if each.kind in ("choice", "input"):
            record = tree.record_file(f"results/{each.path.relative_to(results).as_posix()}")
        if each.path.is_dir() and not each.path.is_symlink():
            shutil.rmtree(each.path)
        else:
            each.path.unlink()
        if record:
            (results / record.removeprefix("results/")).unlink()
