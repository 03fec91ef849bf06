"""Whether values rise from every level of a factor to the next: monotonically."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, between, curves, levels


def contrasts(
    values: pd.DataFrame, *, method: Names, factor: str, baseline: str | None = None, falling: bool = False
) -> dict[str, Contrast]:
    """Each step of each method's values (with a ``baseline``: of its gains) to the next level; ``falling``: down."""

    def steps(curve: Contrast) -> list[tuple[str, str]]:
        return [(low, high) if falling else (high, low) for low, high in pairwise(levels(curve, factor))]

    return between(curves(values, method, baseline), factor, steps)
