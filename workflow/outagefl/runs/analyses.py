"""The analysis of an experiment: what its methods are compared with, and which figures and tables show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outagefl import components
from outagefl.errors import ConfigError, unknown

SHOWN = {"figures": "figure", "tables": "table"}  # key of an analysis → family of the components it lists


def shown_options(analysis: Mapping[str, Any], family: str, kind: str) -> dict[str, Any]:
    """What a figure or table takes from the analysis: its options, found by their names."""
    return {key: analysis[key] for key in components.signatures(family).get(kind, ()) if key in analysis}


def baselines(analysis: Mapping[str, Any]) -> list[str]:
    """The methods every other one is compared with."""
    declared = analysis["baseline"]
    return [declared] if isinstance(declared, str) else list(declared)


def analysis_of(study: str, settings: Mapping[str, Any], experiment: str) -> dict[str, Any]:
    """The study's analysis with what the experiment declares over it.

    Raises ConfigError for a baseline that is not among the methods, a group of methods with an unknown one, a ``level``
    or ``levels`` that are no factors or not numbers, and a figure or table that does not exist or lacks an option.
    """
    declared = settings["experiments"][experiment]
    analysis = {**settings["analysis"], **declared.get("analysis", {})}
    where = f"studies.{study}.experiments.{experiment}"
    for method in baselines(analysis):
        if method not in declared["methods"]:
            raise ConfigError(f"{where}.methods: the baseline {method!r} is not among them")
    for method in analysis.get("aided", []):
        if method not in settings["methods"]:
            raise ConfigError(f"{where}.analysis.aided: {unknown('method', method, settings['methods'])}")
    factors = declared.get("factors", {})
    named = {"level": [analysis["level"]] if "level" in analysis else [], "levels": analysis.get("levels", [])}
    for key, chosen in named.items():
        for factor in chosen:
            if factor not in factors:
                raise ConfigError(f"{where}.analysis.{key}: {unknown('factor', factor, factors)}")
            for level in factors[factor]:
                if not _is_number(level):
                    raise ConfigError(f"{where}.analysis.{key}: {factor}: {level!r} is not a number")
    for key, family in SHOWN.items():
        for kind in analysis.get(key, []):
            options = shown_options(analysis, family, kind)
            components.check(family, {"kind": kind, **options}, f"{where}.analysis.{key}")
    return analysis


def _is_number(level: Any) -> bool:
    """Whether a factor's level is a number, or a name that reads as one."""
    try:
        return float(level) == float(level)
    except (TypeError, ValueError):
        return False
