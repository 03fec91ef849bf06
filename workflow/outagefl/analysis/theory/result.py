"""What a theory check hands back: values for its figure, and findings, one per statement of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Array = NDArray[np.float64]
LEVEL = 0.95  # of every interval


@dataclass(frozen=True)
class Finding:
    """A statement of a paper held against a computation.

    ``expected``: what is printed, or what a printed formula gives. ``computed``: ours; ``low`` … ``high`` is its 95 %
    interval where it is an estimate, or the middle 95 % of what one draw, such as a graph, can give, else NaN.
    ``holds``: whether the statement does.
    """

    statement: str
    source: str
    expected: float
    computed: float
    holds: bool
    note: str
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True)
class Checked:
    """The outcome of a check: a tidy frame of what its figure shows, and its findings."""

    values: pd.DataFrame
    findings: tuple[Finding, ...]


def mean_interval(samples: ArrayLike, intervals: int = 1) -> tuple[Array, Array, Array]:
    """Means over the last axis of samples (…, n), n ≥ 2, and the ends of their t intervals, each (…).

    Their level is 95 % for ``intervals`` of them at once (Bonferroni): all of so many hold with that chance or more.
    """
    samples = np.asarray(samples, dtype=float)
    n = samples.shape[-1]
    mean, error = samples.mean(-1), samples.std(-1, ddof=1) / np.sqrt(n)
    half = stats.t.ppf(1 - (1 - LEVEL) / (2 * intervals), n - 1) * error
    return mean, mean - half, mean + half
