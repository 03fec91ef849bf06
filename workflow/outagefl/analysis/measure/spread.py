"""How much a metric goes up and down over time."""

from __future__ import annotations

from pathlib import Path

from outagefl.analysis.run_curve import curve


def measure(folder: Path, tail: float, *, metric: str, client: int | None = None) -> float:
    """The standard deviation over the evaluations in the second half of the run, of the mean or of one ``client``.

    In the metric's unit, accuracies in points.
    """
    found = curve(folder, metric, client)
    return float(found.values[found.times > found.times[-1] / 2].std(ddof=1))
