"""Settings → specs: components written in full, presets and changes laid over them, every value checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from outagefl import components
from outagefl.config import check
from outagefl.errors import ConfigError, unknown
from outagefl.runs.choices import candidate_specs, chosen_option

# fields of a spec that are components; a rule's family is that of its engine's rules, else the field's name says it
COMPONENTS = ("dataset", "partition", "topology", "links", "speeds", "channel", "availability", "model", "rule")
# option of a component that is a component itself → its family; in some kinds an option of that name is a number
NESTED = {
    "of": "availability",
    "trace": "trace",
    "probability": "probability",
    "base": "base",
    "communities": "communities",
}

Named = Mapping[str, Mapping[str, Any]]  # short names of components, by family


def resolve(
    study: str, settings: Mapping[str, Any], setting: Mapping[str, Any], changes: Mapping[str, Any], where: str
) -> tuple[dict[str, Any], set[str]]:
    """A spec without its seed, and the dotted keys that it left aside.

    Every component is written in full; then the presets that the setting chooses, such as a protocol, and after them
    the ``changes``, both mappings of dotted keys to values, are laid over it. A dotted key that the spec lacks, such as
    an option of another rule, leaves it as it is. Every value is checked, see ``check_spec``.
    """
    engine, named, presets = settings["engine"], settings.get("named", {}), settings.get("presets", {})
    if engine not in (engines := components.signatures("engine")):
        raise ConfigError(f"studies.{study}.engine: {unknown('engine', engine, engines)}")
    chosen = {field: str(setting[field]) for field in presets if field in setting}  # a name may look like a number
    for field, name in chosen.items():
        if name not in presets[field]:
            raise ConfigError(f"{where}: {field}: {unknown('preset', name, presets[field])}")
    spec = in_full({key: value for key, value in setting.items() if key not in presets}, engine, named, where)
    layers = [*(presets[field][name] for field, name in chosen.items()), changes]
    left = {key for layer in layers for key, value in layer.items() if not _assign(spec, key, value)}
    spec = {"study": study, "engine": engine, **in_full(spec, engine, named, where)}
    check_spec({**spec, "seed": 0}, where)
    _require_unseen(spec, settings, where)
    return spec, left


def check_spec(spec: Any, where: str) -> None:
    """Check every value of a spec against ``run.schema.yaml``, those of a choice one by one in its place."""
    if option := chosen_option(spec):
        check(spec["rule"][option], "choice", f"{where}: rule.{option}")
    for candidate in candidate_specs(spec):
        check(candidate, "run", where)


def seeds_of(seeds: int | list[int]) -> list[int]:
    """``3`` means the seeds 0, 1, 2; a list stands for itself."""
    return list(range(seeds)) if isinstance(seeds, int) else seeds


def _require_unseen(spec: Mapping[str, Any], settings: Mapping[str, Any], where: str) -> None:
    """Raise ConfigError for a choice with a seed that an experiment of the study has, run or not."""
    if (option := chosen_option(spec)) is None:
        return
    for name, declared in settings["experiments"].items():
        key = f"experiments.{name}.seeds" if "seeds" in declared else "seeds"
        tested = seeds_of(declared.get("seeds", settings["seeds"]))
        if seen := sorted({*spec["rule"][option]["seeds"]}.intersection(tested)):
            raise ConfigError(
                f"{where}: rule.{option}.seeds: {seen[0]} is among the seeds of the experiment {name} too "
                f"(studies.{spec['study']}.{key}); expected seeds that no experiment of the study has"
            )


def in_full(setting: Mapping[str, Any], engine: str, named: Named, where: str) -> dict[str, Any]:
    """A copy of a setting or spec with every component in full and checked; ``named``: short names by family."""
    full = {}
    for field, value in setting.items():
        family = f"{engine} rule" if field == "rule" else field
        is_component = field in COMPONENTS
        full[field] = component(value, family, named, f"{where}: {field}") if is_component else deepcopy(value)
    return full


def component(value: Any, family: str, named: Named, where: str) -> dict[str, Any]:
    """A component given by its short name, by its kind alone or in full, checked; its own components likewise.

    A short name is not known within the component that it stands for.
    """
    if isinstance(value, str):
        names, kinds = named.get(family, {}), components.signatures(family)
        if value not in names and value not in kinds:
            raise ConfigError(f"{where}: {unknown(family, value, [*names, *kinds])}")
        named = {**named, family: {name: each for name, each in names.items() if name != value}}
        value = names.get(value, {"kind": value})
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where}: {value!r} is neither a name nor a mapping with a kind")
    components.check(family, value, where)
    choices = [option for option in value if family.endswith(" rule") and isinstance(value[option], Mapping)]
    if len(choices) > 1:
        raise ConfigError(f"{where}: {' and '.join(choices)} are to be chosen; expected one such option or none")
    families = dict.fromkeys(choices, "choice") | NESTED
    full = {
        option: component(value[option], families[option], named, f"{where}.{option}")
        for option in families
        if isinstance(value.get(option), str | Mapping)
    }
    return components.ordered(family, {**value, **full})


def parts(settings: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """The components that a component in full holds itself: option → family and settings."""
    return {
        option: (family, settings[option])
        for option, family in NESTED.items()
        if isinstance(settings.get(option), Mapping)
    }


def with_parts(family: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A component in full and all that are within it, at whatever depth: family and settings."""
    yield family, settings
    for part in parts(settings).values():
        yield from with_parts(*part)


def _assign(spec: dict[str, Any], key: str, value: Any) -> bool:
    """Set a key, or a dotted one such as ``partition.alpha`` if the spec has it; says whether it was set."""
    *parents, last = key.split(".")
    for part in parents:
        spec = spec.get(part, {}) if isinstance(spec, dict) else {}
    if parents and (not isinstance(spec, dict) or last not in spec):
        return False
    spec[last] = deepcopy(value)
    return True
