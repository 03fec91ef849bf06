"""The theory checks that studies declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outagefl import components
from outagefl.errors import ConfigError, unknown
from outagefl.runs.choices import chosen_option
from outagefl.runs.resolve import COMPONENTS, component, in_full


def declared_checks(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``<study>/<check>`` → kind and options, of a resolved configuration (``outagefl.config.load``).

    Options named like a field of a setting, such as ``topology``, are components and written in full as there;
    ``methods`` lists methods of the study and becomes name → rule. Raises ConfigError for an unknown kind, option,
    method or component, or a missing option.
    """
    found = {}
    for study, settings in config["study_settings"].items():
        for name, check in settings.get("theory", {}).items():
            where = f"studies.{study}.theory.{name}"
            components.check("theory check", check, where)
            full = in_full(check, settings["engine"], settings.get("named", {}), where)
            full = components.ordered("theory check", full)
            if "methods" in check:
                full["methods"] = _rules(settings, check["methods"], f"{where}.methods")
            found[f"{study}/{name}"] = full
    return found


def _rules(settings: Mapping[str, Any], methods: Any, where: str) -> dict[str, dict[str, Any]]:
    if not isinstance(methods, list) or not methods:
        raise ConfigError(f"{where}: {methods!r} is not a list of methods of the study")
    for method in methods:
        if method not in settings["methods"]:
            raise ConfigError(f"{where}: {unknown('method', method, settings['methods'])}")
        if option := chosen_option(settings["methods"][method]):
            raise ConfigError(f"{where}: {method!r}: {option} is chosen from runs, and a theory check has none")
    family, named = f"{settings['engine']} rule", settings.get("named", {})
    return {name: component(settings["methods"][name]["rule"], family, named, where) for name in methods}


def modules(check: Mapping[str, Any], engine: str) -> list[str]:
    """The modules of a declared check: its own and those of the rules and other components among its options."""
    parts = {"theory check": [check], f"{engine} rule": [*check.get("methods", {}).values()]}
    parts |= {field: [check[field]] for field in COMPONENTS if field in check}
    return [components.module_name(family, part["kind"]) for family, chosen in parts.items() for part in chosen]
