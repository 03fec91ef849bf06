"""Configuration: read the YAML files, check them against the schemas, lay the scale over the studies.

The order of precedence, weakest first: ``config/studies/<study>.yaml``, ``config/scales/<scale>.yaml``, what the scale
holds ``without`` a source that is out of reach, the key ``overrides`` of ``config/config.yaml`` (or of Snakemake's
``--config`` and ``--configfile``). Mappings are merged key by key; lists and components (mappings with a ``kind``) are
replaced whole; ``null`` removes a key. A source is out of reach with ``offline: true`` and no ``local`` path for it:
what is run depends on the configuration alone, not on the state of the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from outagefl.errors import ConfigError, unknown

SCHEMAS = Path(__file__).parent.parent / "schemas"


def read_yaml(path: Path) -> dict[str, Any]:
    """Read one YAML mapping; ConfigError for a missing file, bad syntax or a document that is no mapping."""
    try:
        content = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        valid = sorted(p.stem for p in path.parent.glob("*.yaml"))
        raise ConfigError(f"{path}: no such file; {unknown('name', path.stem, valid)}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values, found {type(content).__name__}")
    return content


@cache
def validator(schema: str) -> Draft202012Validator:
    """The validator of ``workflow/schemas/<schema>.schema.yaml``."""
    return Draft202012Validator(read_yaml(SCHEMAS / f"{schema}.schema.yaml"))


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
    return f"{place}: {error.message}" + (f" (expected: {expected})" if expected else "")


def check(content: Any, schema: str, where: str, *, partial: bool = False) -> None:
    """Raise ConfigError for the first violation of a schema; ``partial`` overlays may lack required keys."""
    errors: Iterator[ValidationError] = validator(schema).iter_errors(content)
    found = [e for e in errors if not (partial and e.validator == "required")]
    if found:
        raise ConfigError(_explain(min(found, key=lambda e: (e.validator != "additionalProperties", e.path)), where))


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """``overlay`` over ``base``, by the rules in this module's docstring; both stay unchanged."""
    merged = dict(base)
    for key, value in overlay.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and "kind" not in value and isinstance(merged.get(key), Mapping):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def without_nulls(content: Any) -> Any:
    """``content`` without mapping keys whose value is null."""
    if isinstance(content, Mapping):
        return {key: without_nulls(value) for key, value in content.items() if value is not None}
    return content


def load(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Resolve the configuration: ``config`` with every study's overlaid settings under ``study_settings``.

    Values from the command line may be text in YAML, such as ``true``. ``without`` lists the sources whose absence
    changed the settings. ``folder`` holds ``studies/``, ``scales/`` and ``sources.yaml``. Raises ConfigError before
    anything is run when a key is unknown or a value cannot be used.
    """
    config = {key: yaml.safe_load(value) if isinstance(value, str) else value for key, value in config.items()}
    check(config, "config", "config")
    scale_file = folder / "scales" / f"{config['scale']}.yaml"
    scale = read_yaml(scale_file)
    check(without_nulls(scale), "scale", str(scale_file), partial=True)
    catalog, substitutes = read_yaml(folder / "sources.yaml"), scale.get("without", {})
    for source in substitutes:
        if source not in catalog:
            raise ConfigError(f"{scale_file}: without: {unknown('source', source, catalog)}")
    within_reach = config.get("local", {}) if config.get("offline", False) else catalog
    missing = [source for source in substitutes if source not in within_reach]
    resolved = {**config, "runs_per_job": scale["runs_per_job"], "without": missing, "study_settings": {}}
    for name in config["studies"]:
        study_file = folder / "studies" / f"{name}.yaml"
        study = read_yaml(study_file)
        check(study, "study", str(study_file))
        for place, overlays in (
            (str(scale_file), scale["studies"]),
            *((f"{scale_file}: without: {source}", substitutes[source]) for source in missing),
            ("config: overrides", config.get("overrides", {})),
        ):
            overlay = overlays.get(name, {})
            check(without_nulls(overlay), "study", f"{place}: {name}", partial=True)
            study = merge(study, overlay)
        check(study, "study", f"{study_file} at scale {config['scale']}")
        resolved["study_settings"][name] = study
    return resolved
