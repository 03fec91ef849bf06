"""Whether results are what was made, and whether what they were made from is still the same.

Every file of a scale is followed to its inputs, and these to theirs: tables → index → runs → partitions → data set.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from outagefl import config as configuration
from outagefl import plugins
from outagefl.errors import ConfigError
from outagefl.fingerprint import changed
from outagefl.provenance.manifest import listed
from outagefl.provenance.records import UNREADABLE, Record, UnsoundError, checksum
from outagefl.provenance.tree import Tree

MISSING, DAMAGED, EDITED, STALE, UNRECORDED = "missing", "damaged", "edited", "stale", "unrecorded"
ADDITIONAL, REFUSED = "additional", "refused"  # in archives


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a file: one of the kinds above, and why."""

    kind: str
    path: str
    why: str


class Check:
    """Checks files and all they were made from, each once; ``checked``: what is wrong by path, None for nothing.

    ``workflow``: the folder with the code that results are held against; ``own``: folders of plug-ins. ``packed``:
    what the files came with in an archive, which may have been made without inputs.
    """

    def __init__(
        self, tree: Tree, workflow: Traversable, *, own: Iterable[Path] = (), packed: Collection[str] = ()
    ) -> None:
        self.tree, self.workflow, self.own = tree, workflow, list(own)
        self.packed = {*packed, *(file.rpartition("/")[0] for file in packed)}  # files and their folders
        self.checked: dict[str, Finding | None] = {}
        self._sums: dict[str, str | None] = {}
        self._other: dict[tuple[str, str], bool] = {}

    def findings(self) -> list[Finding]:
        """All that is wrong."""
        return [found for found in self.checked.values() if found]

    def scale(self, scale: str) -> None:
        """Check everything below ``results/<scale>/`` and all it was made from."""
        others = set(self.tree.scales()) - {scale}
        for path, error in self.tree.unsound.items():
            if not others & set(path.removesuffix(".json").split("/")):
                self.checked[path] = Finding(error.kind, path, str(error))
        for path in sorted({*self.tree.files(f"results/{scale}"), *self.tree.made(scale)}):
            self._visit(path)

    def _visit(self, path: str) -> None:
        if path not in self.checked:
            self.checked[path] = None
            self.checked[path] = next(self._wrong(path), None)

    def _wrong(self, path: str) -> Iterator[Finding]:
        """What is wrong with a file, the worst first."""
        absent = not self.tree.exists(path)
        try:
            record = self.tree.record(path)
        except UnsoundError as error:
            yield self._unsound(path, error)
            return
        for source in record.inputs if record else ():
            if source.startswith("results/"):
                self._visit(source)
        if absent:
            if not self._was_left_out(path):
                yield Finding(MISSING, path, "it was made, or results were made from it")
        elif record is None:
            yield Finding(UNRECORDED, path, "no record says how it was made")
        elif (found := self._checksum(path)) is None:
            yield Finding(DAMAGED, path, "it cannot be read")
        elif found != record.made.get(path):
            yield Finding(EDITED, path, "its bytes are not those that were made")
        if record:
            yield from self._outdated(path, record)

    def _was_left_out(self, path: str) -> bool:
        """Whether a file is an input of which an archive holds the record alone."""
        of_record = self.tree.record_file(path) in self.packed
        return of_record and path not in self.packed and path.startswith("results/inputs/")

    def _unsound(self, path: str, error: UnsoundError) -> Finding:
        """What is wrong with a run whose record cannot be used."""
        record = str(self.tree.record_file(path))
        gone = next((each for each in (path, record) if not self.tree.exists(each)), None)
        return Finding(MISSING, gone, "results were made from it") if gone else Finding(error.kind, record, str(error))

    def _outdated(self, path: str, record: Record) -> Iterator[Finding]:
        if modules := self._other_code(record):
            yield Finding(STALE, path, f"made by code that has changed since: {', '.join(modules)}")
        for source, known in record.inputs.items():
            found = self.checked.get(source)
            if self.tree.exists(source) and self._checksum(source) != known:
                yield Finding(STALE, path, f"made from {source}, which has changed since")
            elif found and found.kind == STALE:
                yield Finding(STALE, path, f"made from {source}, which is stale")

    def _other_code(self, record: Record) -> list[str]:
        """The modules of a record whose code is another by now."""
        for name, digest in record.code.items() - self._other.keys():
            try:
                self._other[name, digest] = bool(changed({name: digest}, self.workflow, self.own))
            except UNREADABLE:
                self._other[name, digest] = True
        return [name for name, digest in record.code.items() if self._other[name, digest]]

    def _checksum(self, path: str) -> str | None:
        """The checksum of a file or folder; None for one that cannot be read."""
        if path not in self._sums:
            try:
                self._sums[path] = checksum(self.tree.at(path))
            except UNREADABLE:
                self._sums[path] = None
        return self._sums[path]


def changed_settings(resolved: Path, folder: Path) -> list[str]:
    """The keys that a resolved configuration would have other values for by now; ``folder``: ``config/``.

    ``resolved`` also tells what ``config.yaml`` and the command line gave, together, so only the other files of
    ``folder``, those of studies and scales, can make a difference.
    Raises ConfigError for a file that is no resolved configuration, and where it cannot be resolved again.
    """
    recorded = configuration.read_yaml(resolved)
    keys = configuration.validator("config").schema["properties"]
    again = configuration.load({key: value for key, value in recorded.items() if key in keys}, folder)
    return [key for key, _, _ in configuration.differences(recorded, again)]


def _changed_claims(check: Check, scale: str, project: Path) -> Finding | None:
    """The published claims are no file that verdicts are made from: remarks in it do not count."""
    path = f"results/{scale}/claims.csv"
    if check.checked.get(path, True) is not None or (record := check.tree.record(path)) is None:
        return None
    then = record.content["settings"].get("claims") or {}
    registry = json.loads(json.dumps(configuration.read_claims(project / "config" / "claims.yaml")))
    now = {study: registry.get(study) for study in then}
    keys = [key for key, _, _ in configuration.differences(then, now)]
    return Finding(STALE, path, f"config/claims.yaml has changed since: {', '.join(keys)}") if keys else None


def check_folder(results: Path, scale: str, project: Path, workflow: Path) -> Check:
    """Check a scale below a folder of results, with the plug-ins and configuration of ``project``.

    ``workflow``: the folder with the code that results are held against.
    """
    plugins.use(configuration.read_yaml(project / "config" / "config.yaml").get("plugins", []), project)
    check = Check(Tree(results, project), workflow, own=plugins.folders(), packed=listed(project))
    check.scale(scale)
    resolved = f"results/{scale}/config.yaml"
    if check.checked.get(resolved, True) is None:
        try:
            keys = changed_settings(results / scale / "config.yaml", project / "config")
            why = f"the configuration has changed since: {', '.join(keys)}" if keys else None
        except ConfigError as error:
            why = f"the configuration cannot be resolved any more: {error}"
        check.checked[resolved] = Finding(STALE, resolved, why) if why else None
    if outdated := _changed_claims(check, scale, project):
        check.checked[outdated.path] = outdated
    return check
