"""What methods reach, in itself."""

from __future__ import annotations

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, curves


def contrasts(values: pd.DataFrame, *, method: Names) -> dict[str, Contrast]:
    """The values of each method."""
    return curves(values, method, None)
