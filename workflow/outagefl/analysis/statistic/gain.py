"""By how much methods exceed a baseline."""

from __future__ import annotations

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, curves


def contrasts(values: pd.DataFrame, *, method: Names, baseline: str) -> dict[str, Contrast]:
    """The difference of each method to the baseline, paired by setting and seed."""
    return curves(values, method, baseline)
