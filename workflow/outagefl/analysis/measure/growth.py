"""How a metric has grown since the beginning."""

from __future__ import annotations

from pathlib import Path

from outagefl.analysis.results import final
from outagefl.analysis.run_curve import curve


def measure(folder: Path, tail: float, *, metric: str) -> float:
    """The metric at the end, as in ``final``, over its first evaluated value."""
    found = curve(folder, metric)
    return final(found.rounds, found.values, tail) / float(found.values[0])
