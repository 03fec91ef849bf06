"""Make a choice from its validation runs and write it down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outagefl import components
from outagefl.files import write_json


def create(settings: Mapping[str, Any], runs: Sequence[str], root: Path, target: Path) -> None:
    """Write what is chosen by ``settings`` from these runs below ``root``, the only ones that are read.

    The file holds value, candidates (``outagefl.analysis.choice``), seeds and runs. Raises DataError for a run that is
    missing or damaged.
    """
    choose, options = components.load("choice", settings)
    choice = choose([root / run for run in runs], **options)
    write_json(target, {**choice, "seeds": settings["seeds"], "runs": list(runs)})
