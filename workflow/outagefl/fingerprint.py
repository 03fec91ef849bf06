"""Fingerprints of code: what a result depends on, without what only people read.

A module's digest is taken over its syntax tree without docstrings, so comments and formatting do not count, and neither
does the version of Python. The modules that belong to a script or a run are found by following the imports of this
package in the syntax tree; nothing is executed. Components loaded by name (see ``outagefl.components``) are added by
the caller, because no import shows them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from outagefl.errors import DataError
from outagefl.plugins import PACKAGE, folders, parsed

SCRIPTS = PACKAGE.parent / "scripts"
SCRIPT = "script:"  # before the names of scripts
IGNORED = frozenset({"outagefl.errors"})  # only how errors are worded


def _is_docstring(node: object) -> bool:
    """Whether a node is a text that nothing is done with, below a ``def`` or anywhere else."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _text(node: object) -> str:
    """A syntax tree as text. Newer versions of Python have more fields, empty where they are not used: none is told."""
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        return f"{type(node).__name__}({', '.join(f'{name}={_text(value)}' for name, value in fields)})"
    if isinstance(node, list):
        return f"[{', '.join(_text(each) for each in node if not _is_docstring(each))}]"
    return repr(node)


def _find(module: str, roots: Iterable[Traversable]) -> Traversable | None:
    """The file of a module in one of the folders of this package; None for any other name, such as a function's."""
    package, *rest = module.split(".")
    if package != PACKAGE.name:
        return None
    names = [[*rest, "__init__.py"], [*rest[:-1], f"{rest[-1]}.py"]] if rest else [["__init__.py"]]
    candidates = (root.joinpath(*name) for root in roots for name in names)
    return next((file for file in candidates if file.is_file()), None)


@cache
def _file_of(module: str, roots: tuple[Path, ...]) -> Path | None:
    return _find(module, roots)  # type: ignore[return-value]


@cache
def _read(path: Path) -> tuple[str, frozenset[str]]:
    """Digest of one file and the names it imports, at whatever depth in the code; relative ones begin with dots."""
    tree = parsed(path)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (f"{node.module}." if node.module else "")
            names |= {f"{origin}{alias.name}" for alias in node.names}
    return _digest(tree), frozenset(names)


def _digest(tree: ast.Module) -> str:
    return hashlib.sha256(_text(tree).encode()).hexdigest()


def _with_parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[: length + 1]) for length in range(len(parts))}


def closure(modules: Iterable[str], scripts: Iterable[Path] = ()) -> dict[str, str]:
    """Digest of every module of this package that ``modules`` and ``scripts`` import, directly or not, and their own.

    Keys are dotted module names, and SCRIPT and the file name for scripts.
    """
    digests: dict[str, str] = {}
    roots = (PACKAGE, *folders())
    waiting = {parent for module in modules for parent in _with_parents(module)}
    for script in scripts:
        digests[SCRIPT + script.name], names = _read(script)
        waiting |= {parent for name in names for parent in _with_parents(name)}
    while waiting:
        module = waiting.pop()
        path = _file_of(module, roots)
        if path is not None and module not in digests and module not in IGNORED:
            digests[module], names = _read(path)
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            absolute = {resolve_name(name, package) for name in names}
            waiting |= {parent for name in absolute for parent in _with_parents(name)} - digests.keys()
    return dict(sorted(digests.items()))


def fingerprint(modules: Iterable[str] = (), scripts: Iterable[Path] = ()) -> str:
    """One digest for all the code that ``modules`` and ``scripts`` use."""
    return hashlib.sha256(repr(closure(modules, scripts)).encode()).hexdigest()


def used(modules: Iterable[str] = (), scripts: Iterable[str] = ()) -> dict[str, Any]:
    """The code of a job in few words: modules and scripts (names of files in SCRIPTS), and one digest for all of it."""
    modules, scripts = sorted(modules), sorted(scripts)
    return {"modules": modules, "scripts": scripts, "digest": _known(tuple(modules), tuple(scripts))}


@cache
def _known(modules: tuple[str, ...], scripts: tuple[str, ...]) -> str:
    return fingerprint(modules, [SCRIPTS / name for name in scripts])


def digests(code: Mapping[str, Any]) -> dict[str, str]:
    """The digests of all modules and scripts behind ``used``; DataError when they have changed since."""
    if _known(tuple(code["modules"]), tuple(code["scripts"])) != code["digest"]:
        raise DataError("the code has changed since this job was planned; start Snakemake again")
    return closure(code["modules"], [SCRIPTS / name for name in code["scripts"]])


def changed(code: Mapping[str, str], workflow: Traversable = PACKAGE.parent, own: Iterable[Path] = ()) -> list[str]:
    """Modules and scripts of a closure whose digests differ in this copy of the folder ``workflow``, or that are gone.

    ``own``: folders of plug-ins.

    A closure grows only when one of its own changes, so this sees every difference.
    """
    roots = [workflow / PACKAGE.name, *own]
    return [name for name, digest in code.items() if _present(name, workflow / "scripts", roots) != digest]


def _present(name: str, scripts: Traversable, roots: Iterable[Traversable]) -> str | None:
    file = scripts / name.removeprefix(SCRIPT) if name.startswith(SCRIPT) else _find(name, roots)
    try:
        return _digest(ast.parse(file.read_text(encoding="utf-8"))) if file and file.is_file() else None
    except (SyntaxError, ValueError):
        return None
