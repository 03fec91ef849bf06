"""A metric at the end of a run, as tables have it."""

from __future__ import annotations

from pathlib import Path

from outagefl.analysis.results import final
from outagefl.analysis.run_curve import curve


def measure(folder: Path, tail: float, *, metric: str) -> float:
    """The mean over the last ``tail`` of the rounds (``results.final``), in the metric's unit, accuracies in %."""
    found = curve(folder, metric)
    return final(found.rounds, found.values, tail)
