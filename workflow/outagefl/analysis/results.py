"""Read the runs of an experiment: its index ``runs.csv`` and the ``metrics.parquet`` of each run.

An index has one row per run: study, experiment, one column per factor, method, seed, run (the run's folder below the
results root) and checksum (SHA-256 of the run's metrics). Accuracies leave this module in percent, so differences of
them are percentage points; every other metric keeps its own unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from outagefl.engines.metrics import MEAN
from outagefl.errors import DataError
from outagefl.files import checksum

FIXED = ("study", "experiment", "method", "seed", "run", "checksum")
SEPARATOR = " · "  # between the factors' labels in the name of a setting


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


def setting(index: pd.DataFrame) -> pd.Series[str]:
    """Each row's setting as one readable label: the values of the factors that vary, or of all where none does."""
    columns = factors(index)
    varying = [column for column in columns if index[column].nunique() > 1] or columns
    labels = index[varying].agg(SEPARATOR.join, axis=1) if varying else index["experiment"]
    return labels.astype(str)


def metrics(folder: Path, names: Sequence[str], *, mean: bool) -> pd.DataFrame:
    """Some metrics of one run, of which only the asked rows are read.

    Columns: round, time (virtual seconds), client, metric, value (accuracy in %). ``mean`` asks for the mean over
    clients, else for the single clients. Raises DataError for a missing or damaged file or an absent metric.
    """
    path = folder / "metrics.parquet"
    wanted = [("metric", "in", list(names)), ("client", "==" if mean else "!=", MEAN)]
    try:
        frame: pd.DataFrame = pq.read_table(path, filters=wanted).to_pandas()
        frame["metric"] = frame["metric"].astype(str)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; run Snakemake again to make this run") from None
    except (pa.ArrowException, OSError, KeyError) as error:
        why = str(error).splitlines()[0]
        raise DataError(
            f"{path}: not readable as the metrics of a run ({why}); delete {folder} and run Snakemake again"
        ) from None
    for name in names:
        if not (frame.metric == name).any():
            raise DataError(f"{path}: holds no metric {name!r} {'of the mean over clients' if mean else 'of clients'}")
    frame.loc[frame.metric == "accuracy", "value"] *= 100
    return frame


def collect(index: pd.DataFrame, root: Path, of_run: Callable[[Path], pd.DataFrame]) -> pd.DataFrame:
    """``of_run(folder)`` for every run below ``root``, stacked, with setting, method and seed beside each row.

    Raises DataError naming the file whose content is not the one that was indexed.
    """
    parts = []
    for label, row in zip(setting(index), index.to_dict("records"), strict=True):
        folder = Path(root) / row["run"]
        part = of_run(folder)
        if checksum(folder / "metrics.parquet") != row["checksum"]:
            raise DataError(
                f"{folder / 'metrics.parquet'}: changed since it was indexed; delete {folder} and run Snakemake again"
            )
        parts.append(part.assign(setting=label, method=row["method"], seed=row["seed"]))
    return pd.concat(parts, ignore_index=True)


def final(rounds: np.ndarray, values: np.ndarray, tail: float) -> float:
    """The mean of the values at the last ``tail`` fraction of the rounds: those with round > (1 − tail)·T.

    ``rounds`` and ``values``: (evaluations,), T the last evaluated round, which always counts. 0.1 is our choice.
    """
    last = rounds.max()
    chosen = (rounds > (1 - tail) * last + 1e-9) | (rounds == last)
    return float(values[chosen].mean())


def scores(index: pd.DataFrame, root: Path, tail: float = 0.1) -> pd.DataFrame:
    """The index with a column ``score``: each run's final mean accuracy over clients, in %.

    Raises DataError naming the run whose score is not a finite number.
    """

    def of_run(folder: Path) -> pd.DataFrame:
        frame = metrics(folder, ["accuracy"], mean=True)
        score = final(frame["round"].to_numpy(), frame["value"].to_numpy(), tail)
        if not np.isfinite(score):
            raise DataError(f"{folder / 'metrics.parquet'}: final accuracy is {score}, expected a finite number")
        return pd.DataFrame({"score": [score]})

    return index.assign(score=collect(index, root, of_run)["score"].to_numpy())
