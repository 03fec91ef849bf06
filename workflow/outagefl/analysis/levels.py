"""Experiments in which a factor's levels are numbers, such as the weight k of the global model."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from outagefl.analysis import looks
from outagefl.analysis.indexes import SEPARATOR, factors, level_names
from outagefl.errors import ConfigError, DataError, unknown


def levels_of(index: pd.DataFrame, level: str) -> list[str]:
    """The levels of a factor as they stand in the index, ascending.

    Raises ConfigError for an unknown factor, DataError for a level that is no number.
    """
    if level not in factors(index):
        raise ConfigError(f"level: {unknown('factor', level, factors(index))}")
    try:
        return sorted(index[level].unique(), key=float)
    except ValueError as error:
        raise DataError(f"level: the levels of {level} are not all numbers ({error})") from None


def by_level(index: pd.DataFrame, level: str) -> Iterator[tuple[int, pd.DataFrame]]:
    """For each level, ascending, its number from 0 and its runs: an index without this factor."""
    for place, name in enumerate(levels_of(index, level)):
        yield place, index[index[level] == name].drop(columns=level)


def levels_as_lines(index: pd.DataFrame, level: str) -> pd.DataFrame:
    """The index with levels (``k = 10``), ascending, in place of the methods; several methods become a factor."""
    order = levels_of(index, level)
    found = index.sort_values(level, key=lambda names: names.map(order.index), kind="stable")
    if found["method"].nunique() > 1:
        found.insert(2, "rule", found["method"].map(looks.label))
    found["method"] = level_names(found, [level])
    return found.drop(columns=level)


def divided(values: pd.DataFrame, part: str) -> pd.DataFrame:
    """The values, setting by setting, with settings that a further column tells apart, also where there is but one."""
    order = list(dict.fromkeys(values["setting"]))
    found = values.sort_values("setting", key=lambda names: names.map(order.index), kind="stable")
    return found.assign(setting=found["setting"] + SEPARATOR + found[part] if len(order) > 1 else found[part])


def panels_of(values: pd.DataFrame) -> pd.DataFrame:
    """The settings and methods of some values, in their order, as an index for ``curves.draw_panels``."""
    return values[["setting", "method"]].rename(columns={"setting": "panel"})
