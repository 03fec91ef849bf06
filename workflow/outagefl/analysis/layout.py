"""Lay cells out as a table to be read: methods below each other, settings in columns and in blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from outagefl.analysis.indexes import factors, level_names, setting
from outagefl.analysis.looks import label
from outagefl.analysis.writers import BOLD, DASH, NO_BREAK, UNDERLINE


def places(index: pd.DataFrame) -> pd.DataFrame:
    """Where each setting goes: setting, column, block.

    The factor with the fewest levels makes the columns, the others the blocks; with a single factor that varies, or
    none, there is one block without a name.
    """
    columns = factors(index)
    varying = [name for name in columns if index[name].nunique() > 1]
    across = min(varying, key=lambda name: index[name].nunique(), default=None)
    rest = [name for name in varying if name != across]
    found = pd.DataFrame(
        {
            "setting": setting(index),
            "column": setting(index) if across is None else level_names(index, [across]),
            "block": level_names(index, rest) if rest else "",
        }
    )
    return found.drop_duplicates(ignore_index=True)


def arrange(cells: pd.DataFrame, index: pd.DataFrame, headings: Sequence[str], value: str) -> pd.DataFrame:
    """The ``value`` of every cell, a row per block and method, a column per place and ``headings``; order is kept.

    ``cells``: setting, method, the headings and the value, text. Where there is no cell stands a dash; a column of
    nothing but dashes is left out.
    """
    placed = cells.merge(places(index), on="setting", how="left", validate="many_to_one")
    placed["method"] = placed["method"].map(label)
    rows = ["block", "method"] if placed["block"].any() else ["method"]
    columns = ["column", *headings]
    wide = placed.pivot(index=rows, columns=columns, values=value)
    order = wide.loc[_in_order(placed, rows), _in_order(placed, columns)].fillna(DASH)
    order.index.names, order.columns.names = [None] * len(rows), [None] * len(columns)
    return order.loc[:, (order != DASH).any()]


def spread(mean: float, sd: float, digits: int) -> str:
    """``mean ± sd``, the mean alone where there is no deviation, a dash where there is no mean."""
    if np.isnan(mean):
        return DASH
    return f"{mean:.{digits}f}" + ("" if np.isnan(sd) else f"{NO_BREAK}±{NO_BREAK}{sd:.{digits}f}")


def marked(goodness: pd.Series[float], by: Sequence[pd.Series[str]]) -> pd.Series[str]:
    """How each cell is marked: BOLD the largest of its group, UNDERLINE the second largest, all that tie alike."""
    place = goodness.groupby(list(by)).rank(method="dense", ascending=False)
    return place.map({1: BOLD, 2: UNDERLINE}).fillna("")


def _in_order(frame: pd.DataFrame, names: list[str]) -> list[object]:
    seen = frame[names].drop_duplicates().itertuples(index=False, name=None)
    return [key if len(names) > 1 else key[0] for key in seen]
