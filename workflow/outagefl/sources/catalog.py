"""The catalog of sources: where every data set comes from and what its bytes must be, ``config/sources.yaml``."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from outagefl.config import check, read_yaml
from outagefl.errors import ConfigError, DataError, unknown
from outagefl.files import checksum, write_json

CACHE = Path("results/.cache/checksums.json")


@dataclass(frozen=True)
class Source:
    """One source: bundled with a package, downloaded to ``resources/<name>/``, or taken from a local path.

    A source that has nothing to download can only be taken from a local path; its entry says how to get it.
    """

    name: str
    entry: dict[str, Any]
    local: Path | None = None

    @property
    def bundled(self) -> bool:
        """Whether it comes with a package."""
        return "bundled" in self.entry

    @property
    def downloads(self) -> dict[str, dict[str, Any]]:
        """The files to download (urls, bytes, checksum) by name; empty when nothing needs the network."""
        return {} if self.local else {file["name"]: file for file in self.entry.get("files", [])}

    @property
    def paths(self) -> list[Path]:
        """What preparation reads: the downloaded files or the local path; nothing for a bundled source."""
        return [self.local] if self.local else list(map(Path, self.promises))

    @property
    def promises(self) -> dict[str, dict[str, Any]]:
        """What each downloaded file must be, by path: bytes (None: unknown) and checksum."""
        return {
            f"resources/{self.name}/{name}": {"bytes": file.get("bytes"), "checksum": file["checksum"]}
            for name, file in self.downloads.items()
        }

    @cached_property
    def identity(self) -> str:
        """A text that changes with the bytes of the source; DataError when a local path is needed and not given."""
        if self.local:
            return f"sha256:{_local_checksum(self.local)}"
        if advice := self.entry.get("local_only"):
            raise DataError(
                f"config: local: the source {self.name!r} has no download; expected {self.name}: <path>. {advice}"
            )
        return " ".join(file["checksum"] for file in self.downloads.values()) or "bundled"


def sources(file: Path, local: Mapping[str, str]) -> dict[str, Source]:
    """Read the catalog; ``local`` maps names of sources to paths, with ``~`` or not, used in place of a download."""
    entries = read_yaml(file)
    check(entries, "sources", str(file))
    for name in local:
        if name not in entries:
            raise ConfigError(f"config: local: {unknown('source', name, entries)}")
        if entries[name].get("bundled"):
            raise ConfigError(f"config: local: {name}: {local[name]} would not be read; this source is bundled")
    paths = {name: Path(os.path.expanduser(path)) for name, path in local.items()}
    return {name: Source(name, entry, paths.get(name)) for name, entry in entries.items()}


def without_paths(settings: Mapping[str, Any], planned: Mapping[str, Source]) -> dict[str, Any]:
    """A configuration to be written down: of ``local`` sources it tells what their bytes are, not where they lie.

    Of folders with plug-ins it tells the names.
    """
    local = {name: planned[name].identity if name in planned else "not used" for name in settings.get("local", {})}
    own = {"plugins": [Path(folder).name for folder in settings["plugins"]]} if "plugins" in settings else {}
    return {**settings, "local": local, **own}


def _local_checksum(path: Path) -> str:
    """SHA-256 of a local file, or of a folder's names and contents; remembered while sizes and times stay the same."""
    try:
        if not path.exists():
            raise DataError(f"config: local: {path}: no such file or folder")
        if not path.is_file() and not path.is_dir():
            raise DataError(f"config: local: {path}: neither a file nor a folder")
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        stats = [(str(p.relative_to(path)), p.stat()) for p in files]
        stamp = hashlib.sha256(repr([(name, s.st_size, s.st_mtime_ns) for name, s in stats]).encode()).hexdigest()
        known, key = _remembered(), str(path.resolve())
        if known.get(key, [""])[0] != stamp:
            contents = repr([(name, checksum(file)) for (name, _), file in zip(stats, files, strict=True)])
            known[key] = [stamp, hashlib.sha256(contents.encode()).hexdigest() if path.is_dir() else checksum(path)]
            write_json(CACHE, known)
    except (OSError, ValueError) as error:  # ValueError: no path at all, such as one with a zero byte
        raise DataError(f"config: local: {path}: cannot be read ({error})") from error
    return known[key][1]


def _remembered() -> dict[str, list[str]]:
    """Path → stamp and checksum of local files; what is missing or damaged is computed anew."""
    try:
        known = json.loads(CACHE.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    sound = known.items() if isinstance(known, dict) else ()
    return {path: entry for path, entry in sound if isinstance(entry, list) and list(map(type, entry)) == [str, str]}
