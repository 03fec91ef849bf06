"""Fingerprints of code: what a result depends on, without what only people read.

A module's digest is taken over its syntax tree without docstrings, so comments and formatting do not count. The modules
that belong to a script or a run are found by following the imports of this package in the syntax tree; nothing is
executed. Components loaded by name (see ``outagefl.components``) are added by the caller, because no import shows them.
``ast.dump`` differs between Python versions: a new minor version of Python makes all results be computed anew.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from outagefl.files import write_json

PACKAGE = Path(__file__).parent
IGNORED = frozenset({"outagefl.errors"})  # only how errors are worded
_given: dict[str, dict[str, str]] = {}  # fingerprints given by this process → digests they stand for


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return tree


@cache
def _file_of(module: str) -> Path | None:
    """The file of a module of this package; None for a name that is no module (a function, another package)."""
    package, *rest = module.split(".")
    if package != PACKAGE.name:
        return None
    stem = PACKAGE.joinpath(*rest)
    candidates = (stem / "__init__.py", stem.with_suffix(".py")) if rest else (PACKAGE / "__init__.py",)
    return next((path for path in candidates if path.is_file()), None)


@cache
def _read(path: Path) -> tuple[str, frozenset[str]]:
    """Digest of one file and the names it imports, at whatever depth in the code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    digest = hashlib.sha256(ast.dump(_without_docstrings(tree)).encode()).hexdigest()
    return digest, frozenset(names)


def _with_parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[: length + 1]) for length in range(len(parts))}


def closure(modules: Iterable[str], scripts: Iterable[Path] = ()) -> dict[str, str]:
    """Digest of every module of this package that ``modules`` and ``scripts`` import, directly or not, and their own.

    Keys are dotted module names, and ``script:<file name>`` for scripts.
    """
    digests: dict[str, str] = {}
    waiting = {parent for module in modules for parent in _with_parents(module)}
    for script in scripts:
        digests[f"script:{script.name}"], names = _read(script)
        waiting |= {parent for name in names for parent in _with_parents(name)}
    while waiting:
        module = waiting.pop()
        path = _file_of(module)
        if path is not None and module not in digests and module not in IGNORED:
            digests[module], names = _read(path)
            waiting |= {parent for name in names for parent in _with_parents(name)} - digests.keys()
    return dict(sorted(digests.items()))


def fingerprint(modules: Iterable[str] = (), scripts: Iterable[Path] = ()) -> str:
    """One digest for all the code that ``modules`` and ``scripts`` use."""
    digests = closure(modules, scripts)
    given = hashlib.sha256(repr(digests).encode()).hexdigest()
    _given[given] = digests
    return given


def record(folder: Path) -> None:
    """Write down in ``folder`` what the fingerprints given by this process stand for."""
    for given, digests in _given.items():
        if not (file := folder / f"{given}.json").exists():
            write_json(file, digests)


def changed_since(folder: Path, given: str) -> list[str]:
    """The modules behind a fingerprint that have changed since; empty where it was not recorded. Scripts left out."""
    file = folder / f"{given}.json"
    digests = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    modules = {name: digest for name, digest in digests.items() if not name.startswith("script:")}
    now = {name: _read(path)[0] for name in modules if (path := _file_of(name))}
    return sorted(name for name, digest in modules.items() if now.get(name) != digest)
