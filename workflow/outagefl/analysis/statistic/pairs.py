"""Differences between pairs of methods."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from outagefl.analysis.contrast import Contrast, gain
from outagefl.analysis.looks import label


def contrasts(values: pd.DataFrame, *, pairs: Sequence[Sequence[str]]) -> dict[str, Contrast]:
    """The first method of each pair minus the second."""
    return {f"{label(one)} − {label(other)}": gain(values, one, other) for one, other in pairs}
