"""Experiments → members: the product of factors, methods and seeds as fully resolved run specs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from outagefl import components
from outagefl.config import merge
from outagefl.errors import ConfigError, unknown
from outagefl.runs.resolve import component, resolve, seeds_of


@dataclass(frozen=True)
class Member:
    """One run's place in an experiment: the factor levels it stands for, its method and seed, and its spec."""

    factors: dict[str, str]
    method: str
    seed: int
    spec: dict[str, Any]


def described(config: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Data sets and traces under the key ``describe``, by kind or by a study's short name: family and settings."""
    studies = config["study_settings"].values()
    named = {
        family: {name: value for study in studies for name, value in study.get("named", {}).get(family, {}).items()}
        for family in ("dataset", "trace")
    }
    choice = {family: [*names, *components.signatures(family)] for family, names in named.items()}
    for name in config.get("describe", []):
        family = next((family for family in choice if name in choice[family]), None)
        if family is None:
            raise ConfigError(f"config: describe: {unknown('data set or trace', name, chain(*choice.values()))}")
        yield family, component(name, family, named, f"config: describe: {name}")


def _label(value: Any) -> str:
    """What stands for a factor's level in tables and file names."""
    if isinstance(value, Mapping):
        return " ".join(_label(part) for part in value.values())
    return str(value)


def check_declarations(study: str, settings: Mapping[str, Any]) -> None:
    """Check what a study declares, used or not: a mistake must not wait for the experiment that first meets it."""
    where, named = f"studies.{study}", settings.get("named", {})
    for family, names in named.items():
        for name in names:
            component(name, family, named, f"{where}.named.{family}.{name}")
    setting, methods = settings["setting"], settings["methods"]
    any_rule = {"rule": next(iter(methods.values()))["rule"]}
    resolve(study, settings, setting | any_rule, {}, f"{where}.setting")
    for name, method in methods.items():
        resolve(study, settings, merge(setting, method), {}, f"{where}.methods.{name}")
    for field, choices in settings.get("presets", {}).items():
        for name, preset in choices.items():
            place = f"{where}.presets.{field}.{name}"
            chosen = setting | {field: name}
            resolved = [resolve(study, settings, merge(chosen, method), {}, place) for method in methods.values()]
            elsewhere = [key for key in preset if "." in key and _is_taken_elsewhere(study, settings, field, name, key)]
            _require_taken(preset.keys() - elsewhere, resolved, place, "key")


def _is_taken_elsewhere(study: str, settings: Mapping[str, Any], field: str, name: str, key: str) -> bool:
    """Whether a preset's dotted key fits, if not the default setting, another component or beside another preset."""
    component_field = key.split(".", maxsplit=1)[0]
    named, presets = settings.get("named", {}), settings["presets"]
    others = [{component_field: other} for other in named.get(component_field, {})]
    others += [{other: choice} for other in presets if other != field for choice in presets[other]]
    rule = next(iter(settings["methods"].values()))
    for other in others:
        setting = settings["setting"] | other | {field: name}
        if key not in resolve(study, settings, merge(setting, rule), {}, f"studies.{study}.presets.{field}.{name}")[1]:
            return True
    return False


def _require_taken(
    keys: Iterable[str], resolved: Iterable[tuple[dict[str, Any], set[str]]], where: str, what: str
) -> None:
    """Raise ConfigError for a dotted key that no method has; ``resolved``: what ``resolve`` said of each."""
    specs, left = zip(*resolved, strict=True)
    if lost := sorted(set(keys).intersection(*left)):
        raise ConfigError(f"{where}: {unknown(what, lost[0], {key for spec in specs for key in _keys(spec)})}")


def _keys(spec: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """All keys of a spec, dotted."""
    for key, value in spec.items():
        yield prefix + key
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{key}.")


def members(study: str, settings: Mapping[str, Any], experiment: str) -> Iterator[Member]:
    """The members of one experiment, factors slowest, seeds fastest; ConfigError for names that do not exist."""
    declared = settings["experiments"][experiment]
    where = f"studies.{study}.experiments.{experiment}"
    base = merge(settings["setting"], declared.get("setting", {}))
    factors = declared.get("factors", {})
    methods = settings["methods"]
    for method in declared["methods"]:
        if method not in methods:
            raise ConfigError(f"{where}.methods: {unknown('method', method, methods)}")
    seeds = seeds_of(declared.get("seeds", settings["seeds"]))
    for key, levels in factors.items():
        told = [_label(level) for level in levels]
        if twice := [label for label in told if told.count(label) > 1]:
            raise ConfigError(f"{where}.factors.{key}: {twice[0]!r} stands twice")
    whole = [key for key in factors if "." not in key]
    for key in whole:
        if key not in (fields := {**base, **settings.get("presets", {})}):
            raise ConfigError(f"{where}.factors: {unknown('factor', key, fields)}")
    presets = {key: settings["presets"][key] for key in whole if key in settings.get("presets", {})}
    idle = {(key, str(level)) for key in presets for level in factors[key] if presets[key].get(str(level))}
    for levels in product(*factors.values()):
        chosen = dict(zip(factors, levels, strict=True))
        setting = base | {key: chosen.pop(key) for key in whole}
        labels = {key: _label(level) for key, level in zip(factors, levels, strict=True)}
        resolved = {
            method: resolve(study, settings, merge(setting, methods[method]), chosen, f"{where}, method {method}")
            for method in declared["methods"]
        }
        _require_taken(chosen, resolved.values(), f"{where}.factors", "factor")
        lost = set.intersection(*(left for _, left in resolved.values()))
        idle -= {(key, str(setting[key])) for key in presets if presets[key][str(setting[key])].keys() - lost}
        for method, (spec, _) in resolved.items():
            for seed in seeds:
                yield Member(labels, method, seed, {**spec, "seed": seed})
    for key, level in sorted(idle):
        keys = ", ".join(presets[key][level])
        raise ConfigError(f"{where}.factors.{key}: {level!r} changes nothing here: no run has any of {keys}")


def canonical(content: Any) -> str:
    """The same text for the same content, whatever the order of its keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
