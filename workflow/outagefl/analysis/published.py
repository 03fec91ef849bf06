"""Published values beside ours: a table of facts, ``config/published/<study>.csv``, matched with what was really run.

A row holds: table (where it is published), method, metric (``train`` or ``test``: accuracy in %; ``rounds``: the first
round at which the test accuracy reaches ``target`` %, ``inf`` for never), target, mean and sd (over seeds, may be
empty). Every other column is a dotted key of a run's spec; where it is filled the run must have this value. So a run on
another data set or under another availability never has a published value beside it, while one of fewer rounds has.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from outagefl.analysis.indexes import setting
from outagefl.analysis.records import dotted, read_record
from outagefl.errors import DataError, unknown

FIXED = ("table", "method", "metric", "target", "mean", "sd")
METRICS = ("train", "test", "rounds")
CELL = ["setting", "method", "metric", "target"]


def read_facts(path: Path | str, what: str, columns: Sequence[str]) -> pd.DataFrame:
    """A table of published facts as text; DataError naming the file that is no table of ``what`` or lacks a column."""
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise DataError(f"{path}: no such table of {what}") from None
    except ValueError as error:
        raise DataError(f"{path}: not a table of {what} ({error})") from None
    if missing := [column for column in columns if column not in frame]:
        raise DataError(f"{path}: the table lacks the column {missing[0]!r}")
    return frame


def read_published(path: Path | str) -> pd.DataFrame:
    """The table of facts: target, mean and sd as floats, everything else as text.

    Raises DataError naming the file and line of what cannot be used.
    """
    frame = read_facts(path, "published values", FIXED)
    for line, metric in enumerate(frame["metric"], start=2):
        if metric not in METRICS:
            raise DataError(f"{path}: line {line}: {unknown('metric', metric, METRICS)}")
    for column in ("target", "mean", "sd"):
        numbers = pd.to_numeric(frame[column], errors="coerce")
        needed = column == "mean" or (column == "target") & (frame["metric"] == "rounds")
        if (wrong := numbers.isna() & (needed | (frame[column] != ""))).any():
            line = int(wrong.to_numpy().argmax())
            raise DataError(f"{path}: line {line + 2}: {column}: {frame[column][line]!r}, expected a number")
        frame[column] = numbers
    facts = frame.drop(columns="table").drop_duplicates()
    if (twice := facts.duplicated([column for column in facts if column not in ("mean", "sd")])).any():
        line = facts.index[twice][0] + 2
        raise DataError(f"{path}: line {line}: another value for what an earlier line has")
    return frame


def published_beside(index: pd.DataFrame, root: Path, path: str | None, metrics: Sequence[str]) -> pd.DataFrame:
    """The published values of ``metrics`` for the settings and methods of an index, one row at most for each target.

    Columns: setting, method, metric, target, published_mean, published_sd. No path, no rows.
    """
    names = {"mean": "published_mean", "sd": "published_sd"}
    columns = [*CELL, *names.values()]
    if path is None:
        return pd.DataFrame(columns=columns)
    facts = read_published(path).rename(columns=names).drop(columns="table").drop_duplicates()
    keys = [str(key) for key in facts if key not in ("method", "metric", "target", *names.values())]
    rows = []
    for row in index.assign(setting=setting(index)).drop_duplicates(["setting", "method"]).to_dict("records"):
        spec = read_record(Path(root) / row["run"], "spec")
        for fact in facts[(facts["method"] == row["method"]) & facts["metric"].isin(metrics)].to_dict("records"):
            if fits(fact, keys, spec):
                rows.append({**fact, "setting": row["setting"]})
    return pd.DataFrame(rows, columns=columns)


def fits(fact: Mapping[Hashable, Any], keys: Sequence[str], spec: Mapping[str, Any]) -> bool:
    """Whether a spec has the values that a published fact has under some dotted keys; an empty one fits every spec."""
    return all(fact[key] == "" or _same(fact[key], dotted(spec, key)) for key in keys)


def _same(text: str, value: Any) -> bool:
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return text == str(value)
