"""How long a run takes to reach an accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outagefl.analysis import first_round
from outagefl.analysis.run_curve import curve


def measure(folder: Path, tail: float, *, target: float) -> float:
    """The first evaluated round with a test accuracy of at least ``target`` (%).

    A run that never gets there counts with its last round, the least it would need: so the slower of two runs stays the
    slower one, and their ratio is too small rather than too large. Each run by itself, where the paper has the first
    round of the mean curve.
    """
    found = curve(folder, "accuracy")
    reached = first_round.first_round(found.rounds, found.values, target)
    return reached if np.isfinite(reached) else float(found.rounds[-1])
