"""Published curves beside ours: a table of facts, ``config/published/<study>_curves.csv``, matched with what was run.

A row is a point of a curve: figure (where it is published), method, time (virtual seconds), time_error (how far off the
time may be at most, where not all points of a curve could be read and so not which ones are missing) and accuracy (%).
Every other column is a dotted key of a run's spec, as in ``outagefl.analysis.published``.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.indexes import setting
from outagefl.analysis.published import fits, read_facts
from outagefl.analysis.records import read_record
from outagefl.errors import DataError

NUMBERS = ("time", "time_error", "accuracy")
FIXED = ("figure", "method", *NUMBERS)


def read_curves(path: Path | str) -> pd.DataFrame:
    """The table of facts: times and accuracies as floats, everything else as text.

    Raises DataError naming the file and line of what cannot be used.
    """
    frame = read_facts(path, "published curves", FIXED)
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
