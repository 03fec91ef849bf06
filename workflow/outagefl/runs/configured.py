"""The configuration that a command is given, with its plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outagefl import config, plugins
from outagefl.runs.plan import Plan, make_plan
from outagefl.sources.catalog import sources

CONFIG = Path("config")


def configured(given: Mapping[str, Any], folder: Path = CONFIG) -> tuple[dict[str, Any], Plan]:
    """The resolved configuration and its plan; ConfigError for anything that the workflow would refuse.

    ``given`` is laid over ``config.yaml`` in ``folder``, as Snakemake does with ``--config``.
    """
    settings = config.load(updated(config.read_yaml(folder / "config.yaml"), given), folder)
    plugins.use(settings.get("plugins", []))
    return settings, make_plan(settings, sources(folder / "sources.yaml", settings.get("local", {})))


def updated(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` over ``base`` key by key; unlike in studies and scales, null is a value and ``+`` part of a name."""
    merged = dict(base)
    for key, value in given.items():
        old = base.get(key)
        merged[key] = updated(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
