"""Experiments → members: the product of factors, methods and seeds as fully resolved run specs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

from outagefl import components
from outagefl.config import check, merge
from outagefl.errors import ConfigError, unknown

# options of components that are components themselves
NESTED = ("trace",)
# fields of a spec that are components; a rule's family is that of its engine's rules, else the field's name says it
COMPONENTS = ("dataset", "partition", "topology", "availability", "model", "rule")


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


def _component(
    value: Any, field: str, named: Mapping[str, Mapping[str, Any]], where: str, family: str | None = None
) -> dict[str, Any]:
    """A component given by its short name, by its kind alone or in full, checked; ``named``: short names by field.

    Its family is the field's name unless ``family`` says another.
    """
    family = family or field
    if isinstance(value, str):
        names, kinds = named.get(field, {}), components.signatures(family)
        if value not in names and value not in kinds:
            raise ConfigError(f"{where}: {unknown(field, value, [*names, *kinds])}")
        value = names.get(value, {"kind": value})
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: {value!r} is neither a name nor a mapping with a kind")
    components.check(family, value, where)
    parts = {key: _component(value[key], key, named, f"{where}.{key}") for key in NESTED if key in value}
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
        yield family, _component(name, family, named, f"config: describe: {name}")


def _assign(spec: dict[str, Any], key: str, value: Any) -> bool:
    """Set a key, or a dotted one such as ``partition.alpha`` if the spec has it; says whether it was set."""
    *parents, last = key.split(".")
    for part in parents:
        spec = spec.get(part, {}) if isinstance(spec, dict) else {}
    if parents and (not isinstance(spec, dict) or last not in spec):
        return False
    spec[last] = deepcopy(value)
    return True


def _keys(spec: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """All keys of a spec, dotted."""
    for key, value in spec.items():
        yield prefix + key
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{key}.")


def _label(value: Any) -> str:
    """What stands for a factor's level in tables and file names."""
    if isinstance(value, Mapping):
        return " ".join(_label(part) for part in value.values())
    return str(value)


def check_declarations(study: str, settings: Mapping[str, Any]) -> None:
    """Check what a study declares, used or not: a mistake must not wait for the experiment that first meets it."""
    where, named = f"studies.{study}", settings.get("named", {})
    for field, values in named.items():
        others = {other: names for other, names in named.items() if other != field}
        for name, value in values.items():
            _component(value, field, others, f"{where}.named.{field}.{name}")
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
            _require_taken(preset, resolved, place, "key")


def _require_taken(
    keys: Iterable[str], resolved: Iterable[tuple[dict[str, Any], set[str]]], where: str, what: str
) -> None:
    """Raise ConfigError for a dotted key that no method has; ``resolved``: what ``resolve`` said of each."""
    specs, left = zip(*resolved, strict=True)
    if lost := sorted(set(keys).intersection(*left)):
        raise ConfigError(f"{where}: {unknown(what, lost[0], {key for spec in specs for key in _keys(spec)})}")


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
        if key not in base:
            raise ConfigError(f"{where}.factors: {unknown('factor', key, base)}")
    for levels in product(*factors.values()):
        chosen = dict(zip(factors, levels, strict=True))
        setting = base | {key: chosen.pop(key) for key in whole}
        labels = {key: _label(level) for key, level in zip(factors, levels, strict=True)}
        resolved = {
            method: resolve(study, settings, merge(setting, methods[method]), chosen, f"{where}, method {method}")
            for method in declared["methods"]
        }
        _require_taken(chosen, resolved.values(), f"{where}.factors", "factor")
        for method, (spec, _) in resolved.items():
            for seed in seeds:
                yield Member(labels, method, seed, {**spec, "seed": seed})


def resolve(
    study: str, settings: Mapping[str, Any], setting: Mapping[str, Any], changes: Mapping[str, Any], where: str
) -> tuple[dict[str, Any], set[str]]:
    """A spec without its seed, and the dotted keys that it left aside.

    Every component is written in full; then the presets that the setting chooses, such as a protocol, and after them
    the ``changes``, both mappings of dotted keys to values, are laid over it. A dotted key that the spec lacks, such as
    an option of another rule, leaves it as it is. Every value is checked against ``run.schema.yaml``.
    """
    engine, named, presets = settings["engine"], settings.get("named", {}), settings.get("presets", {})
    if engine not in (engines := components.signatures("engine")):
        raise ConfigError(f"studies.{study}.engine: {unknown('engine', engine, engines)}")
    chosen = {field: setting[field] for field in presets if field in setting}
    for field, name in chosen.items():
        if name not in presets[field]:
            raise ConfigError(f"{where}: {field}: {unknown('preset', name, presets[field])}")
    spec = in_full({key: value for key, value in setting.items() if key not in presets}, engine, named, where)
    layers = [*(presets[field][name] for field, name in chosen.items()), changes]
    left = {key for layer in layers for key, value in layer.items() if not _assign(spec, key, value)}
    spec = {"study": study, "engine": engine, **in_full(spec, engine, named, where)}
    check({**spec, "seed": 0}, "run", where)
    return spec, left


def in_full(
    setting: Mapping[str, Any], engine: str, named: Mapping[str, Mapping[str, Any]], where: str
) -> dict[str, Any]:
    """A copy of a setting or spec with every component in full and checked; ``named``: short names by field."""
    full = {}
    for field, value in setting.items():
        family = f"{engine} rule" if field == "rule" else field
        is_component = field in COMPONENTS
        full[field] = _component(value, field, named, f"{where}: {field}", family) if is_component else deepcopy(value)
    return full


def canonical(content: Any) -> str:
    """The same text for the same content, whatever the order of its keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
