"""An estimate of what a configuration will cost."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import torch

from outagefl.config import given
from outagefl.errors import ConfigError
from outagefl.estimate.costs import FILES, machine
from outagefl.estimate.summary import DEVICES, summarise
from outagefl.estimate.text import told
from outagefl.runs.configured import configured
from outagefl.runs.theory import declared_checks


def estimate(pairs: Iterable[str], cores: str, *, as_json: bool) -> str:
    """What a configuration will cost on so many cores (``all``: those there are), as a table or as JSON."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = available if cores == "all" else int(cores) if cores.isdecimal() else 0
    if not count:
        raise ConfigError(f"--cores {cores}: expected all or a number above 0")
    settings, plan = configured(given(pairs))
    machines = {device: found for device in DEVICES if (found := machine(device))}
    if not machines:
        raise ConfigError(f"{' and '.join(map(str, FILES))}: no recorded costs; `make costs` measures them here")
    device = "cuda" if settings["device"] == "auto" and torch.cuda.is_available() else settings["device"]
    with tempfile.TemporaryDirectory() as scratch:
        summary = summarise(settings, plan, declared_checks(settings), Path("results"), Path(scratch), machines)
    summary |= {"device": "cuda" if device == "cuda" else "cpu", "cores": count}
    return json.dumps(summary, indent=2) if as_json else told(summary)
