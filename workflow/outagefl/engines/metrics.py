"""The metrics of a run as one tidy table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MEAN = -1  # stands for the mean over clients in the column ``client``


def tidy(metrics: Mapping[str, NDArray[np.float64]], times: NDArray[np.float64]) -> pd.DataFrame:
    """Columns round (from 1), time, client, metric, value; sorted by round, client and metric.

    ``metrics``: name → values (T, N), NaN where nothing was measured; ``times``: (T,). Client −1 is the mean over the
    clients that have a value; what has none is left out. A metric of the whole system, (T,), is client −1's as it is.
    """
    names = sorted(metrics)
    columns = [_with_mean(metrics[name]) if metrics[name].ndim == 2 else metrics[name][:, None] for name in names]
    width = max(column.shape[1] for column in columns)
    padding = [np.full((len(times), width - column.shape[1]), np.nan) for column in columns]
    cube = np.stack([np.hstack(both) for both in zip(columns, padding, strict=True)], axis=-1)
    rounds, clients, kinds = np.nonzero(~np.isnan(cube))
    return pd.DataFrame(
        {
            "round": (rounds + 1).astype(np.int32),
            "time": times[rounds],
            "client": (clients + MEAN).astype(np.int32),
            "metric": pd.Categorical.from_codes(kinds, pd.Index(names)),
            "value": cube[rounds, clients, kinds],
        }
    )


def _with_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values (T, N) with their mean over the known ones as a new first column."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return np.column_stack([mean, values])
