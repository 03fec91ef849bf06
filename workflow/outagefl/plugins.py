"""Components of one's own, outside the repository: folders laid out like this package.

A rule for gossip is ``<folder>/rules/gossip/<kind>.py`` and imported as ``outagefl.rules.gossip.<kind>``; modules that
it needs may lie anywhere below the folder's ``rules``, ``models`` and so on. The folders are named by the key
``plugins`` of the main configuration and, for every process of the workflow, by the environment variable
OUTAGEFL_PLUGINS.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from outagefl.errors import ConfigError

VARIABLE = "OUTAGEFL_PLUGINS"
PACKAGE = Path(__file__).parent


def folders() -> list[Path]:
    """The folders in use, in the order in which modules are looked for after those of the package."""
    return [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]


def use(named: Iterable[str], base: Path = Path()) -> None:
    """Use these folders, too, in this process and those it starts; ``~`` is the user's, others begin at ``base``.

    Raises ConfigError for a folder that is not there or has a colon in its path, and for a module that the package or
    another folder has, too.
    """
    added = [(base / os.path.expanduser(folder)).resolve() for folder in named]
    for folder in added:
        if not folder.is_dir() or os.pathsep in str(folder):
            raise ConfigError(
                f"config: plugins: {folder}: expected an existing folder, without {os.pathsep!r} in its path"
            )
    chosen = list(dict.fromkeys([*folders(), *added]))
    known = {PACKAGE: {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")}} if chosen else {}
    for folder in chosen:
        found = set(modules(folder))
        for other, names in known.items():
            if twice := sorted(names & found):
                raise ConfigError(f"config: plugins: {folder / twice[0]}: {other} has a module of this name, too")
        known[folder] = found
    os.environ[VARIABLE] = os.pathsep.join(map(str, chosen))


def modules(folder: Path) -> list[str]:
    """The modules of a plug-in, as paths from its folder: those in folders that the package has, too."""
    inside = [path for each in folder.iterdir() if (PACKAGE / each.name).is_dir() for path in each.rglob("*.py")]
    found = [path.relative_to(folder) for path in inside]
    return sorted(str(path) for path in found if path.name != "__init__.py" or not (PACKAGE / path).exists())


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module; ConfigError, with its path, for one that is not Python."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise ConfigError(f"{path}: not readable as Python ({error})") from None


class _Finder:
    """Finds modules of this package that it does not have itself in the folders of plug-ins."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, *rest = name.split(".")
        if package != PACKAGE.name or not rest:
            return None
        stems = [folder.joinpath(*rest) for folder in folders()]
        files = [file for stem in stems for file in (stem / "__init__.py", stem.with_suffix(".py")) if file.is_file()]
        return spec_from_file_location(name, files[0]) if files else None


sys.meta_path.append(_Finder)
