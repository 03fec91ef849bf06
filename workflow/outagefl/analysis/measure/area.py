"""The area under a metric's curve: who is ahead all along (AUC of the DFL-AA paper's tables)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from outagefl.analysis.run_curve import curve


def measure(folder: Path, tail: float, *, metric: str) -> float:
    """The trapezoid over virtual time from the first evaluation on, in the metric's unit (accuracies: %) · seconds."""
    found = curve(folder, metric)
    return float(np.trapezoid(found.values, found.times))
