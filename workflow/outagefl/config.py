"""Configuration: read the YAML files, check them against the schemas, lay the scale over the studies.

The order of precedence, weakest first: ``config/studies/<study>.yaml``, ``config/scales/<scale>.yaml``, what the scale
holds ``without`` a source that is out of reach, the key ``overrides`` of ``config/config.yaml`` (or of Snakemake's
``--config`` and ``--configfile``). Mappings are merged key by key; lists and components (mappings with a ``kind``) are
replaced whole, but ``methods+: [mine]`` adds to the list ``methods``; ``null`` removes a key. A source is out of reach
when it has no ``local`` path while ``offline`` is true or another source, of those that have a download, has one, as on
a machine without internet: what is run depends on the configuration alone, not on the state of the network.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from outagefl.errors import ConfigError, unknown

SCHEMAS = Path(__file__).parent.parent / "schemas"
MORE = "+"  # ends a key whose list is added to another


class _Loader(yaml.SafeLoader):
    """YAML in which keys are text and may stand only once: the last of two would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        names = [key.value for key in keys]
        for key in keys:
            if key.tag != "tag:yaml.org,2002:str":
                told = f"the key {key.value!r} is no text to YAML: put it into quotes, or give it another name,"
                raise yaml.constructor.ConstructorError(None, None, told, key.start_mark)
            if (first := keys[names.index(key.value)]) is not key:
                told = f"the key {key.value!r} stands twice,"
                raise yaml.constructor.ConstructorError(told, first.start_mark, "and", key.start_mark)
        return super().construct_mapping(node, deep)


def _is_integer(_: Any, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: Any, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# Schema (kept alive by ``validator``) and text of values that were found to fit it.
_valid: set[tuple[int, str]] = set()


def _properties(
    validator: Any, properties: Mapping[str, Any], content: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """JSON Schema's keyword, which looks at equal values once: the specs of an experiment have most parts in common."""
    for name in [name for name in properties if isinstance(content, Mapping) and name in content]:
        seen = id(properties[name]), repr(content[name])
        if seen not in _valid:
            errors = list(validator.descend(content[name], properties[name], path=name, schema_path=name))
            yield from errors
            if not errors:
                _valid.add(seen)


# JSON Schema calls 2.0 an integer, and has nothing to say about infinity.
_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {"properties": _properties},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number}),
)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read one YAML mapping; ConfigError for a missing file, bad syntax or a document that is no mapping."""
    try:
        with path.open("rb") as stream:
            content = yaml.load(stream, _Loader)
    except FileNotFoundError:
        valid = sorted(p.stem for p in path.parent.glob("*.yaml"))
        raise ConfigError(f"{path}: no such file; {unknown('name', path.stem, valid)}") from None
    except yaml.YAMLError as error:
        told = " ".join(str(error).split()).replace(f'in "{path}", ', "in ")
        raise ConfigError(f"{path}: not valid YAML: {told}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values, found {type(content).__name__}")
    return content


def read_claims(path: Path) -> dict[str, dict[str, Any]]:
    """The registry of published claims; ConfigError naming the claim and key that cannot be used."""
    claims = read_yaml(path)
    check(claims, "claims", str(path))
    return claims


@cache
def validator(schema: str) -> Any:
    """The validator of ``workflow/schemas/<schema>.schema.yaml``."""
    return _Validator(read_yaml(SCHEMAS / f"{schema}.schema.yaml"))


def _explain(error: ValidationError, where: str) -> str:
    key = ".".join(str(part) for part in error.absolute_path)
    place = f"{where}: {key}" if key else where
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        valid = schema.get("properties", {})
        return f"{place}: {unknown('key', next(name for name in error.instance if name not in valid), valid)}"
    if error.validator == "enum":
        return f"{place}: {unknown('value', error.instance, schema['enum'])}"
    expected = schema.get("description")
    told = repr(error.instance) if error.validator == "not" else error.message
    return f"{place}: {told}" + (f" (expected: {expected})" if expected else "")


def check(content: Any, schema: str, where: str, *, partial: bool = False) -> None:
    """Raise ConfigError for the first violation of a schema; ``partial`` overlays may lack required keys."""
    errors = validator(schema).iter_errors(content)
    if found := [e for e in errors if not (partial and e.validator in ("required", "minProperties"))]:
        raise ConfigError(_explain(min(found, key=lambda e: (e.validator != "additionalProperties", e.path)), where))


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any], where: str = "config") -> dict[str, Any]:
    """``overlay`` over ``base``, by the rules in this module's docstring; both stay unchanged.

    Raises ConfigError, with the place ``where`` it stands, for an addition to what is no list in ``base``.
    """
    merged = dict(base)
    for key, value in overlay.items():
        place, name = f"{where}.{key}", _list_of(key)
        if value is None:
            merged.pop(key, None)
        elif name != key:
            if not isinstance(base.get(name), list):
                raise ConfigError(f"{place}: there is no list {name!r} here to add to; expected {name}: [...]")
            merged[name] = [*base[name], *(each for each in value if each not in base[name])]
        elif isinstance(value, Mapping) and "kind" not in value and isinstance(merged.get(key), Mapping):
            merged[key] = merge(merged[key], value, place)
        elif added := next(_additions(value), None):
            why = f"; {unknown('name', key, base)}" if key not in base else ""
            raise ConfigError(f"{place}: there is no list that {added!r} could add to{why}")
        else:
            merged[key] = value
    return merged


def _list_of(key: Any) -> Any:
    """The key of the list that ``methods+`` adds to; any other key as it is."""
    return key.removesuffix(MORE) if isinstance(key, str) else key


def _additions(overlay: Any) -> Iterator[str]:
    """The keys of an overlay, at any depth, that add to a list."""
    if isinstance(overlay, Mapping):
        for key, value in overlay.items():
            yield from [key] if _list_of(key) != key else _additions(value)


def _in_full(overlay: Any, where: str) -> Any:
    """An overlay as if its lists replaced others, for the schemas; ConfigError for keys that cannot be any."""
    if not isinstance(overlay, Mapping):
        return overlay
    full: dict[Any, Any] = {}
    for key, value in overlay.items():
        place, name = f"{where}.{key}", _list_of(key)
        if not isinstance(key, str):
            raise ConfigError(f"{place}: the key {key!r} is no text; expected it in quotes")
        if name != key and not isinstance(value, list):
            raise ConfigError(f"{place}: {value!r} is no list; expected what the list {name!r} gets in addition")
        if name in full:
            raise ConfigError(
                f"{place}: {name!r} and {f'{name}{MORE}'!r} stand beside each other; expected one of them"
            )
        full[name] = _in_full(value, place)
    return full


def differences(before: Any, after: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two configurations or specs differ: dotted key, and what stands there, None where there is nothing."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            yield from differences(before.get(name), after.get(name), f"{key}.{name}" if key else str(name))
    elif before != after:
        yield key, before, after


def without_nulls(content: Any) -> Any:
    """``content`` without mapping keys whose value is null."""
    if isinstance(content, Mapping):
        return {key: without_nulls(value) for key, value in content.items() if value is not None}
    return content


def given(pairs: Iterable[str]) -> dict[str, Any]:
    """Main keys from ``key=value``, the value in YAML, as Snakemake takes them after ``--config``."""
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(f"--config: {pair!r} is no key=value")
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f"--config: {key}: not valid YAML: {' '.join(str(error).split())}") from None
    return found


def typed(value: Any) -> Any:
    """``value`` with the numbers, truth values and nulls that came as text, as they do from a command line."""
    if isinstance(value, Mapping):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    if not isinstance(value, str):
        return value
    try:
        read = yaml.safe_load(value)
    except yaml.YAMLError:
        return value
    return read if read is None or isinstance(read, int | float) else value


def _overlays(
    config: Mapping[str, Any], scale: Mapping[str, Any], scale_file: Path, missing: Iterable[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    """What is laid over the studies, weakest first: where it stands, and study → settings."""
    return [
        (f"{scale_file}: studies", scale["studies"]),
        *((f"{scale_file}: without: {source}", scale["without"][source]) for source in missing),
        ("config: overrides", config.get("overrides") or {}),
    ]


def load(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Resolve the configuration: ``config`` with every study's overlaid settings under ``study_settings``.

    Values from the command line may be text, see ``typed``. ``without`` lists the sources whose absence
    changed the settings. ``folder`` holds ``studies/``, ``scales/`` and ``sources.yaml``. Raises ConfigError before
    anything is run when a key is unknown or a value cannot be used.
    """
    config = dict(sorted(typed(config).items()))  # in whichever order the keys came
    check(config, "config", "config")
    scale_file = folder / "scales" / f"{config['scale']}.yaml"
    scale = read_yaml(scale_file)
    check(without_nulls(scale), "scale", str(scale_file))
    catalog, substitutes = read_yaml(folder / "sources.yaml"), scale.get("without", {})
    for source in substitutes:
        if source not in catalog:
            raise ConfigError(f"{scale_file}: without: {unknown('source', source, catalog)}")
    local = config.get("local", {})
    replaced = [source for source in local if "local_only" not in catalog.get(source, {})]
    within_reach = local if replaced or config.get("offline", False) else catalog
    valid = [path.stem for path in (folder / "studies").glob("*.yaml")]
    for place, overlays in _overlays(config, scale, scale_file, substitutes):
        for name in overlays:
            if name not in valid:
                raise ConfigError(f"{place}: {unknown('study', name, valid)}")
    missing = [source for source in substitutes if source not in within_reach]
    jobs = {"runs_per_job": config.get("runs_per_job", scale["runs_per_job"])}
    resolved = {**config, **jobs, "without": missing, "study_settings": {}}
    for name in config["studies"]:
        study_file = folder / "studies" / f"{name}.yaml"
        study = read_yaml(study_file)
        check(study, "study", str(study_file))
        for place, overlays in _overlays(config, scale, scale_file, missing):
            overlay = overlays.get(name, {})
            check(_in_full(without_nulls(overlay), f"{place}: {name}"), "study", f"{place}: {name}", partial=True)
            study = merge(study, overlay, f"{place}: {name}")
        check(study, "study", f"{study_file} at scale {config['scale']}")
        resolved["study_settings"][name] = study
    return resolved
