"""An estimate of what a configuration will cost."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from outagefl import config as configuration
from outagefl.errors import ConfigError
from outagefl.estimate.costs import FILES, machine
from outagefl.estimate.summary import DEVICES, summarise
from outagefl.estimate.text import told
from outagefl.runs.plan import Plan, make_plan
from outagefl.runs.theory import declared_checks
from outagefl.sources.catalog import sources

CONFIG = Path("config")


def configured(pairs: Iterable[str]) -> tuple[dict[str, Any], Plan]:
    """The resolved configuration and its plan; ConfigError for anything that the workflow would refuse.

    ``pairs``: ``key=value``, laid over ``config/config.yaml`` as Snakemake does with ``--config``.
    """
    given = configuration.given(pairs)
    settings = configuration.load(configuration.merge(configuration.read_yaml(CONFIG / "config.yaml"), given), CONFIG)
    return settings, make_plan(settings, sources(CONFIG / "sources.yaml", settings.get("local", {})))


def estimate(pairs: Iterable[str], cores: str, *, as_json: bool) -> str:
    """What a configuration will cost on so many cores (``all``: those there are), as a table or as JSON."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = available if cores == "all" else int(cores) if cores.isdecimal() else 0
    if not count:
        raise ConfigError(f"--cores {cores}: expected all or a number above 0")
    settings, plan = configured(pairs)
    machines = {device: found for device in DEVICES if (found := machine(device))}
    if not machines:
        raise ConfigError(f"{' and '.join(map(str, FILES))}: no recorded costs; `make costs` measures them here")
    device = "cuda" if settings["device"] == "auto" and torch.cuda.is_available() else settings["device"]
    with tempfile.TemporaryDirectory() as scratch:
        summary = summarise(settings, plan, declared_checks(settings), Path("results"), Path(scratch), machines)
    summary |= {"device": "cuda" if device == "cuda" else "cpu", "cores": count}
    return json.dumps(summary, indent=2) if as_json else told(summary)
