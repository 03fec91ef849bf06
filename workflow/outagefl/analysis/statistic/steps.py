"""Whether values rise from every level of a factor to the next: monotonically."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, between, curves, levels


def contrasts(
    values: pd.DataFrame,
    *,
    method: Names,
    factor: str,
    level: Sequence[object] | None = None,
    baseline: str | None = None,
    falling: bool = False,
) -> dict[str, Contrast]:
    """Each step of each method's values (with a ``baseline``: of its gains) to the next level; ``falling``: down.

    ``level``: the levels, in this order; without it all that there are.
    """

    def steps(curve: Contrast) -> list[tuple[str, str]]:
        order = [str(each) for each in level] if level else levels(curve, factor)
        return [(low, high) if falling else (high, low) for low, high in pairwise(order)]

    return between(curves(values, method, baseline), factor, steps)
