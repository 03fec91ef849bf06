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

PACKAGE = Path(__file__).parent

# family → (folder below the package, function every module of it defines)
FAMILIES = {
    "dataset": ("datasets", "prepare"),
    "partition": ("inputs/partition", "split"),
    "topology": ("inputs/topology", "edges"),
    "availability": ("inputs/availability", "matrix"),
    "trace": ("traces", "read"),
    "gossip rule": ("rules/gossip", "scores"),
    "model": ("models", "build"),
    "engine": ("engines", "run"),
}


@cache
def signatures(family: str) -> dict[str, dict[str, bool]]:
    """All components of a family: name → option → whether it is required."""
    folder, function = FAMILIES[family]
    found = {}
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                found[path.stem] = {argument.arg: default is None for argument, default in defaults}
    return found


def module_name(family: str, kind: str) -> str:
    """The dotted module name of a component, e.g. ``outagefl.rules.gossip.sfg``."""
    folder, _ = FAMILIES[family]
    return f"outagefl.{folder.replace('/', '.')}.{kind}"


def check(family: str, settings: Mapping[str, Any], where: str) -> None:
    """Check ``{kind: name, option: value, …}`` against the component's signature.

    Raises ConfigError naming ``where`` (the configuration key) for an unknown kind, unknown option or missing option.
    """
    known = signatures(family)
    kind = settings.get("kind")
    if kind not in known:
        raise ConfigError(f"{where}: {unknown(family, kind, known)}")
    options = known[kind]
    for option in settings:
        if option != "kind" and option not in options:
            raise ConfigError(f"{where}: {unknown(f'option of {family} {kind}', option, options)}")
    for option, required in options.items():
        if required and option not in settings:
            raise ConfigError(f"{where}: {family} {kind!r} needs the option {option!r}")


def load(family: str, settings: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The component's function and its options."""
    check(family, settings, family)
    kind = settings["kind"]
    function = getattr(import_module(module_name(family, kind)), FAMILIES[family][1])
    return function, {key: value for key, value in settings.items() if key != "kind"}
