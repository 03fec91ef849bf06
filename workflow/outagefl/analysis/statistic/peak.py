"""Where along a factor a method is best."""

from __future__ import annotations

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, between, curves, levels


def contrasts(values: pd.DataFrame, *, method: Names, factor: str, at: object) -> dict[str, Contrast]:
    """By how much each method is better at the level ``at`` than at every level that is not next to it.

    The neighbours are left out: "around" is no claim about them.
    """

    def others(curve: Contrast) -> list[tuple[str, str]]:
        order = levels(curve, factor)
        place = order.index(str(at))
        return [(str(at), level) for away, level in enumerate(order) if abs(away - place) > 1]

    return between(curves(values, method, None), factor, others)
