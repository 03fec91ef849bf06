"""The files of a workflow's folder, or of an archive of it, and the record of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources.abc import Traversable

from outagefl.errors import DataError
from outagefl.provenance.records import Record, UnsoundError, read

RESULTS = "results/"
SHARED = ("runs", "inputs", "choices", "provenance", "logs", "benchmarks")  # beside the folders of the scales
RUN = "run.json"


class Tree:
    """Finds files and their records by paths as records have them: ``results/…``, ``config/…``.

    ``results`` is the folder of results, wherever it lies, ``project`` that of everything else. ``unsound`` holds what
    is wrong with records of jobs that cannot be used, by path.
    """

    def __init__(self, results: Traversable, project: Traversable) -> None:
        self.results, self.project = results, project
        self.unsound: dict[str, UnsoundError] = {}
        self._jobs: dict[str, tuple[str, Record]] = {}
        for path in self.files("results/provenance"):
            try:
                record = read(self.at(path))
            except UnsoundError as error:
                self.unsound[path] = error
            else:
                self._jobs |= dict.fromkeys(record.made, (path, record))

    def at(self, path: str) -> Traversable:
        """Where a file or folder is, whether it exists or not."""
        if path.startswith(RESULTS):
            return self.results.joinpath(path.removeprefix(RESULTS))
        return self.project.joinpath(path)

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        return (file := self.at(path)).is_file() or file.is_dir()

    def files(self, folder: str) -> Iterator[str]:
        """All files below a folder, in order, but hidden ones and what is in hidden folders."""
        if not self.at(folder).is_dir():
            return
        for each in sorted(self.at(folder).iterdir(), key=lambda each: each.name):
            path = f"{folder}/{each.name}"
            if not each.name.startswith("."):
                yield from self.files(path) if each.is_dir() else [path]

    def made(self, scale: str) -> list[str]:
        """What jobs have made for a scale, whether it still exists or not."""
        return sorted(path for path in self._jobs if path.startswith(f"{RESULTS}{scale}/"))

    def behind(self, paths: Iterable[str]) -> set[str]:
        """These paths and all below the results that they were made from; DataError for a run with a bad record."""
        found: set[str] = set()
        waiting = set(paths)
        while waiting:
            found.add(path := waiting.pop())
            try:
                record = self.record(path)
            except UnsoundError as error:
                raise DataError(f"{self.record_file(path)}: {error}; delete it and start the workflow again") from None
            waiting |= {source for source in record.inputs if source.startswith(RESULTS)} - found if record else set()
        return found

    def scales(self) -> list[str]:
        """The scales there are results of."""
        found = [each.name for each in self.results.iterdir() if each.is_dir()] if self.results.is_dir() else []
        return sorted(name for name in found if name not in SHARED and not name.startswith("."))

    def record_file(self, path: str) -> str | None:
        """The record of a file or folder; None where there is none."""
        if path.startswith("results/runs/"):
            return f"{path.rpartition('/')[0]}/{RUN}"
        return self._jobs[path][0] if path in self._jobs else None

    def record(self, path: str) -> Record | None:
        """How a file or folder was made; None where that is not recorded, UnsoundError for a run's bad record."""
        if path.startswith("results/runs/"):
            return read(self.at(str(self.record_file(path))))
        return self._jobs[path][1] if path in self._jobs else None
