"""Published curves beside ours: a table of facts, ``config/published/<study>_curves.csv``, matched with what was run.

A row is a point of a curve: figure (where it is published), method, time (virtual seconds), time_error (how far off the
time may be at most, where not all points of a curve could be read and so not which ones are missing) and accuracy (%).
Every other column is a dotted key of a run's spec, as in ``outagefl.analysis.published``.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.indexes import setting
from outagefl.analysis.published import fits
from outagefl.analysis.records import read_record
from outagefl.errors import DataError

NUMBERS = ("time", "time_error", "accuracy")
FIXED = ("figure", "method", *NUMBERS)


def read_curves(path: Path | str) -> pd.DataFrame:
    """The table of facts: times and accuracies as floats, everything else as text.

    Raises DataError naming the file and line of what cannot be used.
    """
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of published curves") from None
    except ValueError as error:
        raise DataError(f"{path}: not a table of published curves ({error})") from None
    if missing := [column for column in FIXED if column not in frame]:
        raise DataError(f"{path}: the table lacks the column {missing[0]!r}")
    for column in NUMBERS:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if (wrong := ~(numbers >= 0)).any():
            line = int(wrong.to_numpy().argmax())
            raise DataError(f"{path}: line {line + 2}: {column}: {frame[column][line]!r}, expected a number from 0")
        frame[column] = numbers
    if (twice := frame.duplicated([column for column in frame if column not in ("time_error", "accuracy")])).any():
        raise DataError(f"{path}: line {frame.index[twice][0] + 2}: another point for the time of an earlier line")
    return frame


def curves_beside(index: pd.DataFrame, root: Path, path: str | None) -> pd.DataFrame:
    """The published points for the settings and methods of an index, in order of time.

    Columns: setting, method, figure, time, time_error, accuracy. No path, no rows.
    """
    columns = ["setting", *FIXED]
    if path is None:
        return pd.DataFrame(columns=columns)
    facts = read_curves(path)
    keys = [str(key) for key in facts if key not in FIXED]
    curves = facts.groupby([*keys, "figure", "method"], sort=False)
    found = [pd.DataFrame(columns=columns)]
    for row in index.assign(setting=setting(index)).drop_duplicates(["setting", "method"]).to_dict("records"):
        spec = read_record(Path(root) / row["run"], "spec")
        for _, curve in curves:
            fact = curve.iloc[0].to_dict()
            if fact["method"] == row["method"] and fits(fact, keys, spec):
                found.append(curve.sort_values("time").assign(setting=row["setting"])[columns])
    return pd.concat(found, ignore_index=True).astype(dict.fromkeys(NUMBERS, float))
