"""Experiments → members: the product of factors, methods and seeds as fully resolved run specs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from outagefl import components
from outagefl.config import check, merge
from outagefl.errors import ConfigError, unknown

# option of a component that is a component itself → its family; in some kinds an option of that name is a number
NESTED = {"trace": "trace", "probability": "probability", "base": "base probability"}
# field of a spec → family of components it takes
FAMILY = {name: name for name in ("dataset", "partition", "topology", "availability", "model")} | {
    "rule": "gossip rule"
}


@dataclass(frozen=True)
class Member:
    """One run's place in an experiment: the factor levels it stands for, its method and seed, and its spec."""

    factors: dict[str, str]
    method: str
    seed: int
    spec: dict[str, Any]


def seeds_of(seeds: int | list[int]) -> list[int]:
    """``3`` means the seeds 0, 1, 2; a list stands for itself."""
    return list(range(seeds)) if isinstance(seeds, int) else seeds


def component(value: Any, field: str, named: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, Any]:
    """A component given by its short name, by its kind alone or in full, checked; ``named``: short names by field."""
    family = (FAMILY | NESTED)[field]
    if isinstance(value, str):
        names, kinds = named.get(field, {}), components.signatures(family)
        if value not in names and value not in kinds:
            raise ConfigError(f"{where}: {unknown(field, value, [*names, *kinds])}")
        value = names.get(value, {"kind": value})
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: {value!r} is neither a name nor a mapping with a kind")
    components.check(family, value, where)
    parts = {
        key: component(value[key], key, named, f"{where}.{key}")
        for key in NESTED
        if isinstance(value.get(key), str | Mapping)
    }
    return {**value, **parts}


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


def _assign(setting: dict[str, Any], key: str, value: Any, where: str) -> None:
    """Set a dotted key such as ``partition.alpha`` that the setting already has."""
    *parents, last = key.split(".")
    for part in parents:
        setting = setting.get(part, {}) if isinstance(setting, dict) else {}
    if not isinstance(setting, dict) or last not in setting:
        valid = setting if isinstance(setting, dict) else ()
        raise ConfigError(f"{where}: {unknown('factor', key, ['.'.join([*parents, name]) for name in valid])}")
    setting[last] = deepcopy(value)


def _label(value: Any) -> str:
    """What stands for a factor's level in tables and file names."""
    if isinstance(value, Mapping):
        return " ".join(_label(part) for part in value.values())
    return str(value)


def check_declarations(study: str, settings: Mapping[str, Any]) -> None:
    """Check what a study declares, used or not: a mistake must not wait for the experiment that first meets it."""
    named = settings.get("named", {})
    for field, values in named.items():
        others = {other: names for other, names in named.items() if other != field}
        for name, value in values.items():
            component(value, field, others, f"studies.{study}.named.{field}.{name}")
    any_rule = {"rule": next(iter(settings["methods"].values()))["rule"]}
    resolve(study, settings, settings["setting"] | any_rule, f"studies.{study}.setting")
    for name, method in settings["methods"].items():
        resolve(study, settings, merge(settings["setting"], method), f"studies.{study}.methods.{name}")


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
    for levels in product(*factors.values()):
        setting = deepcopy(base)
        for key, level in zip(factors, levels, strict=True):
            _assign(setting, key, level, f"{where}.factors")
        labels = {key: _label(level) for key, level in zip(factors, levels, strict=True)}
        for method in declared["methods"]:
            spec = resolve(study, settings, merge(setting, methods[method]), f"{where}, method {method}")
            for seed in seeds:
                yield Member(labels, method, seed, {**spec, "seed": seed})


def resolve(study: str, settings: Mapping[str, Any], setting: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A spec without its seed: every component in full, every value checked against ``run.schema.yaml``."""
    spec: dict[str, Any] = {"study": study, "engine": settings["engine"]}
    if spec["engine"] not in (engines := components.signatures("engine")):
        raise ConfigError(f"studies.{study}.engine: {unknown('engine', spec['engine'], engines)}")
    named = settings.get("named", {})
    for field, value in setting.items():
        spec[field] = component(value, field, named, f"{where}: {field}") if field in FAMILY else value
    check({**spec, "seed": 0}, "run", where)
    return spec


def canonical(content: Any) -> str:
    """The same text for the same content, whatever the order of its keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
