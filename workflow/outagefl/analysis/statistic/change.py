"""What a factor's level changes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, between, curves


def contrasts(
    values: pd.DataFrame,
    *,
    method: Names,
    factor: str,
    base: object,
    level: object | Sequence[object],
    baseline: str | None = None,
) -> dict[str, Contrast]:
    """What each method has at a ``level`` (or each of several) minus what it has at ``base``, another one.

    With a ``baseline`` it is the gain over that which changes.
    """
    reached = [str(each) for each in (level if isinstance(level, list) else [level])]
    pairs = [(each, str(base)) for each in reached]
    return between(curves(values, method, baseline), factor, lambda _: pairs)
