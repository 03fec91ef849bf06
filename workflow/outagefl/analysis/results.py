"""Read the runs of an experiment: the ``metrics.parquet`` of each run that its index names.

Accuracies leave this module in percent, so differences of them are percentage points; every other metric keeps its own
unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from outagefl.analysis.indexes import setting
from outagefl.engines.metrics import MEAN
from outagefl.errors import DataError
from outagefl.files import appeared, checksum


def metrics(folder: Path, names: Sequence[str], *, mean: bool) -> pd.DataFrame:
    """Some metrics of one run, of which only the asked rows are read.

    Columns: round, time (virtual seconds), client, metric, value (accuracies in %). ``mean`` asks for the mean over
    clients, else for the single clients. Raises DataError for a missing or damaged file or an absent metric.
    """
    frame = _read(folder, [("metric", "in", list(names)), ("client", "==" if mean else "!=", MEAN)])
    for name in names:
        if not (frame.metric == name).any():
            path, whose = folder / "metrics.parquet", "of the mean over clients" if mean else "of clients"
            raise DataError(f"{path}: holds no metric {name!r} {whose}")
    frame.loc[frame.metric.str.endswith("accuracy"), "value"] *= 100
    return frame


def has_metric(folder: Path, name: str) -> bool:
    """Whether a run has a metric at all; DataError for a missing or damaged file."""
    return not _read(folder, [("metric", "==", name)]).empty


def _read(folder: Path, wanted: list[tuple[str, str, Any]]) -> pd.DataFrame:
    """The rows of a run's metrics that pass the filters of ``pyarrow.parquet.read_table``."""
    path = folder / "metrics.parquet"
    try:
        appeared(path)
        frame: pd.DataFrame = pq.read_table(path, filters=wanted).to_pandas()
        return frame.astype({"metric": str})
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; run Snakemake again to make this run") from None
    except (pa.ArrowException, OSError, KeyError) as error:
        why = str(error).splitlines()[0]
        raise DataError(
            f"{path}: not readable as the metrics of a run ({why}); delete {folder} and run Snakemake again"
        ) from None


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


def score(folder: Path, tail: float) -> float:
    """A run's final mean accuracy over clients, in %; DataError naming the run where it is not a finite number."""
    frame = metrics(folder, ["accuracy"], mean=True)
    value = final(frame["round"].to_numpy(), frame["value"].to_numpy(), tail)
    if not np.isfinite(value):
        raise DataError(f"{folder / 'metrics.parquet'}: final accuracy is {value}, expected a finite number")
    return value


def scores(index: pd.DataFrame, root: Path, tail: float = 0.1) -> pd.DataFrame:
    """The index with a column ``score``: each run's ``score``; DataError as there."""
    found = collect(index, root, lambda folder: pd.DataFrame({"score": [score(folder, tail)]}))
    return index.assign(score=found["score"].to_numpy())
