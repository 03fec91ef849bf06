"""Components found by name: a kind of rule, model, graph … is one module in its folder, imported only on demand.

A component's options are the keyword-only arguments of its function, so the signature is the one place that says what
the configuration may hold. They are read from the syntax tree: nothing is imported to check a configuration.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from outagefl.errors import ConfigError, unknown
from outagefl.plugins import PACKAGE, folders, parsed


@cache
def families() -> dict[str, tuple[str, str]]:
    """Family → its folder below the package and the function every module of it defines, as its folder says.

    Each folder says so itself, so that a new family changes no code that existing runs depend on.
    """
    found = {}
    for path in sorted(PACKAGE.rglob("__init__.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).strip("()") == "FAMILY, FUNCTION":
                family, function = ast.literal_eval(node.value)
                found[family] = (path.parent.relative_to(PACKAGE).as_posix(), function)
    return found


def signatures(family: str) -> dict[str, dict[str, bool]]:
    """All components of a family, those of plug-ins among them: name → option → whether it is required."""
    return _signatures(family, (PACKAGE, *folders()))


@cache
def _signatures(family: str, roots: tuple[Path, ...]) -> dict[str, dict[str, bool]]:
    folder, function = families()[family]
    found = {}
    for path in sorted(path for root in roots for path in (root / folder).glob("*.py")):
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                found[path.stem] = {argument.arg: default is None for argument, default in defaults}
    return found


def module_name(family: str, kind: str) -> str:
    """The dotted module name of a component, e.g. ``outagefl.rules.gossip.sfg``."""
    folder, _ = families()[family]
    return f"outagefl.{folder.replace('/', '.')}.{kind}"


def check(family: str, settings: Mapping[str, Any], where: str) -> None:
    """Check ``{kind: name, option: value, …}`` against the component's signature.

    Raises ConfigError naming ``where`` (the configuration key) for an unknown kind, unknown option or missing option.
    """
    known = signatures(family)
    if "kind" not in settings:
        raise ConfigError(f"{where}: {dict(settings)} has no kind; expected one of {', '.join(known)}")
    kind = settings["kind"]
    if kind not in known:
        folder, function = families()[family]
        for file in (root / folder / f"{kind}.py" for root in folders()):
            if file.is_file():
                raise ConfigError(f"{where}: {file}: defines no function {function!r}, which every {family} has")
        raise ConfigError(f"{where}: {unknown(family, kind, known)}")
    options = known[kind]
    for option in settings:
        if option != "kind" and option not in options:
            raise ConfigError(f"{where}: {unknown(f'option of {family} {kind}', option, options)}")
    for option, required in options.items():
        if required and option not in settings:
            raise ConfigError(f"{where}: {family} {kind!r} needs the option {option!r}")


def ordered(family: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Checked settings with their options in the order of the signature, in whichever they were written."""
    return {key: settings[key] for key in ("kind", *signatures(family)[settings["kind"]]) if key in settings}


def load(family: str, settings: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The component's function and its options."""
    check(family, settings, family)
    kind = settings["kind"]
    function = getattr(import_module(module_name(family, kind)), families()[family][1])
    return function, {key: value for key, value in settings.items() if key != "kind"}
