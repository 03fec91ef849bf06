"""Values of runs, and differences between runs that share their seed and all else but what is compared.

Values are a frame with a row per run: a column for each factor (the levels' labels), method, seed and value. A contrast
is a series over the levels of ``seed`` and of the factors that are left, one number each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pandas as pd

from outagefl.analysis.looks import label
from outagefl.errors import DataError

Contrast: TypeAlias = "pd.Series[float]"  # the index has a level ``seed``
Names = str | Sequence[str]


def several(names: Names) -> list[str]:
    """One name or a list of them, as a list."""
    return [names] if isinstance(names, str) else list(names)


def of_method(values: pd.DataFrame, method: str) -> Contrast:
    """The values of one method."""
    own = values[values["method"] == method]
    keys = [column for column in own if column not in ("method", "value")]
    return own.set_index(keys)["value"]


def difference(one: Contrast, other: Contrast, named: str) -> Contrast:
    """One minus the other; DataError naming a run without its partner, since dropping runs would bias a comparison."""
    if len(alone := one.index.symmetric_difference(other.index)):
        raise DataError(f"{named}: no run to pair with for {alone.to_frame().iloc[0].to_dict()}")
    found: Contrast = one - other.reindex(one.index)
    return found


def gain(values: pd.DataFrame, method: str, baseline: str) -> Contrast:
    """By how much a method exceeds a baseline."""
    return difference(of_method(values, method), of_method(values, baseline), f"{method}, {baseline}")


def curves(values: pd.DataFrame, method: Names, baseline: str | None) -> dict[str, Contrast]:
    """The values of each method or, with a ``baseline``, its gains over that, by name."""
    names = several(method)
    if baseline is None:
        return {label(name): of_method(values, name) for name in names}
    return {f"{label(name)} − {label(baseline)}": gain(values, name, baseline) for name in names}


def levels(contrast: Contrast, factor: str) -> list[str]:
    """The levels of a factor, ascending where all are numbers, else as they stand in the index of runs."""
    found = list(dict.fromkeys(contrast.index.get_level_values(factor)))
    try:
        return sorted(found, key=float)
    except ValueError:
        return found


def at_level(contrast: Contrast, factor: str, level: str) -> Contrast:
    """The part of a contrast at one level of a factor, over the other factors and the seeds."""
    return contrast.xs(level, level=factor)


def between(
    curves: dict[str, Contrast], factor: str, pairs: Callable[[Contrast], Sequence[tuple[str, str]]]
) -> dict[str, Contrast]:
    """What each curve is at one level of a factor minus what it is at another, for the pairs of levels of the curve."""
    return {
        f"{name}, {one} − {other}": difference(at_level(curve, factor, one), at_level(curve, factor, other), factor)
        for name, curve in curves.items()
        for one, other in pairs(curve)
    }
