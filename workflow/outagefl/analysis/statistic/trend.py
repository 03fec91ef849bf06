"""Whether values rise along the levels of a factor."""

from __future__ import annotations

import numpy as np
import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, at_level, curves, levels


def contrasts(
    values: pd.DataFrame, *, method: Names, factor: str, baseline: str | None = None, falling: bool = False
) -> dict[str, Contrast]:
    """The slope of each method's values (with a ``baseline``: of its gains) from one level to the next.

    Levels count as equally far apart; the slope is that of the least squares. ``falling``: downwards.
    """
    return {name: _slope(curve, factor, falling) for name, curve in curves(values, method, baseline).items()}


def _slope(curve: Contrast, factor: str, falling: bool) -> Contrast:
    parts = [at_level(curve, factor, level) for level in levels(curve, factor)]
    place = np.arange(len(parts)) - (len(parts) - 1) / 2
    weights = (-place if falling else place) / (place**2).sum()
    slope: Contrast = sum(weight * part for weight, part in zip(weights, parts, strict=True))
    return slope
