"""The index of an experiment, ``runs.csv``: which runs there are, and what their settings are called.

An index has one row per run: study, experiment, one column per factor, method, seed, run (the run's folder below the
results root) and checksum (SHA-256 of the run's metrics).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from outagefl.errors import DataError

FIXED = ("study", "experiment", "method", "seed", "run", "checksum")
SEPARATOR = " · "  # between the factors' labels in the name of a setting
SYMBOLS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "probability": "p",
    "tau": "τ",
}  # of factors that end with these names


def read_index(path: Path | str) -> pd.DataFrame:
    """The index of an experiment; every column but ``seed`` (int) holds text, the factors' readable labels.

    Raises DataError for a missing or unreadable file, a missing column, no run at all, or a run listed twice.
    """
    try:
        index = pd.read_csv(path, dtype=str, keep_default_na=False).astype({"seed": int})
    except FileNotFoundError:
        raise DataError(f"{path}: no such index of runs") from None
    except (KeyError, ValueError) as error:
        raise DataError(f"{path}: not an index of runs with columns {', '.join(FIXED)} ({error})") from None
    if missing := [column for column in FIXED if column not in index]:
        raise DataError(f"{path}: the index lacks the column {missing[0]!r}")
    if index.empty:
        raise DataError(f"{path}: the index lists no run")
    twice = index[index.duplicated(["study", "experiment", *factors(index), "method", "seed"])]
    if len(twice):
        raise DataError(f"{path}: {twice.run.iloc[0]!r} repeats the factors, method and seed of an earlier row")
    return index


def factors(index: pd.DataFrame) -> list[str]:
    """The factor columns of an index (or of a frame made from one by ``scores``), in their order."""
    return [str(column) for column in index if column not in (*FIXED, "score")]


def symbol(factor: str) -> str:
    """What stands for a factor such as ``rule.k`` where there is no room for more: its last part or a Greek letter."""
    name = factor.rpartition(".")[2]
    return SYMBOLS.get(name, name.replace("_", " "))


def level_names(index: pd.DataFrame, columns: Sequence[str]) -> pd.Series[str]:
    """Each row's levels of some factors as one label; numbers say of what they are: ``sine · γ = 0.3``."""
    names = {column: index[column].astype(str) for column in columns}
    for column, levels in names.items():
        if pd.to_numeric(levels, errors="coerce").notna().all():
            names[column] = f"{symbol(column)} = " + levels
    return pd.DataFrame(names, index.index).agg(SEPARATOR.join, axis=1).astype(str)


def setting(index: pd.DataFrame) -> pd.Series[str]:
    """Each row's setting as one readable label: the levels of the factors that vary, or of all where none does."""
    columns = factors(index)
    varying = [column for column in columns if index[column].nunique() > 1] or columns
    return level_names(index, varying) if varying else index["experiment"].astype(str)
