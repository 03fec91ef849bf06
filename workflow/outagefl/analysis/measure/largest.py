"""The largest value that a metric ever has."""

from __future__ import annotations

from pathlib import Path

from outagefl.analysis.run_curve import curve


def measure(folder: Path, tail: float, *, metric: str) -> float:
    """The largest evaluated value, in the metric's unit, accuracies in %."""
    return float(curve(folder, metric).values.max())
