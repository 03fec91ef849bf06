"""Components of one's own, outside the repository: folders laid out like this package.

A rule for gossip is ``<folder>/rules/gossip/<kind>.py``, a model ``<folder>/models/<kind>.py``. The folders are named
by the key ``plugins`` of the main configuration and, for every process of the workflow, by the environment variable
OUTAGEFL_PLUGINS; ``python -m outagefl run`` looks there alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from outagefl.errors import ConfigError

VARIABLE = "OUTAGEFL_PLUGINS"
PACKAGE = Path(__file__).parent


def folders() -> list[Path]:
    """The folders in use, in the order in which components are looked for after those of the package."""
    return [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]


def use(named: Iterable[str]) -> None:
    """Use these folders, too, in this process and those it starts; ``~`` is the user's folder.

    Raises ConfigError for a folder that is not there, and for a module that the package or another folder has, too.
    """
    added = [Path(os.path.abspath(os.path.expanduser(folder))) for folder in named]
    for folder in added:
        if not folder.is_dir():
            raise ConfigError(f"config: plugins: {folder}: no such folder")
    chosen = list(dict.fromkeys([*folders(), *added]))
    known = {PACKAGE: set(modules(PACKAGE))} if chosen else {}
    for folder in chosen:
        for other, names in known.items():
            if twice := sorted(names & set(modules(folder))):
                raise ConfigError(f"config: plugins: {folder / twice[0]}: {other} has a module of this name, too")
        known[folder] = set(modules(folder))
    os.environ[VARIABLE] = os.pathsep.join(map(str, chosen))


def modules(folder: Path) -> list[str]:
    """The modules in a folder and below it, as paths from there: ``rules/gossip/sfg.py``."""
    found = [path.relative_to(folder) for path in folder.rglob("*.py") if path.name != "__init__.py"]
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))
