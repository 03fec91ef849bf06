"""What is published of the FLASH trace, how it is computed, and how near a synthetic trace must come."""

from __future__ import annotations

import numpy as np

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
OFFLINE, ONLINE, UNKNOWN = 0, 1, 2


def runs(states, state):
    """Lengths of the runs of ``state`` in all columns of ``states`` (rounds, clients), cut off at both ends."""
    columns = states.T
    starts = np.ones(columns.shape, bool)
    starts[:, 1:] = columns[:, 1:] != columns[:, :-1]
    first = np.flatnonzero(starts)
    return np.diff(first, append=columns.size)[columns.ravel()[first] == state]


def autocorrelation(column):
    """Lag-1 correlation over pairs of known slots; NaN for a device that never changes."""
    now, after = column[:-1], column[1:]
    known = ~np.isnan(now) & ~np.isnan(after)
    now, after = now[known], after[known]
    return np.corrcoef(now, after)[0, 1] if len(now) and np.ptp(now) and np.ptp(after) else np.nan


def statistics(matrix):
    """What is published of the smartphone trace, of a matrix (half-hour slots, devices) with NaN where unknown."""
    hour = np.arange(len(matrix)) // 2 % 24
    device = np.nanmean(matrix, axis=0)
    states = np.where(np.isnan(matrix), UNKNOWN, matrix)
    return {
        "hourly share": np.array([np.nanmean(matrix[hour == h]) for h in range(24)]),
        "mean": np.nanmean(matrix),
        "device means": np.quantile(device, (0.25, 0.5, 0.75, 0.9)),
        "never": np.mean(device == 0),
        "autocorrelation": np.nanmean([autocorrelation(column) for column in matrix.T]),
        "online runs": np.quantile(runs(states, ONLINE), QUANTILES),
        "offline runs": np.quantile(runs(states, OFFLINE), QUANTILES),
    }


# Published of the FLASH trace, 241 half-hour slots and 723 devices; unknown slots count nowhere and end a run.
PUBLISHED = {
    "hourly share": np.array(
        [
            [0.090, 0.098, 0.108, 0.116, 0.120, 0.119, 0.114, 0.101, 0.088, 0.081, 0.073, 0.065],
            [0.063, 0.057, 0.057, 0.059, 0.065, 0.070, 0.077, 0.066, 0.059, 0.061, 0.071, 0.084],
        ]
    ).ravel(),
    "mean": 0.0812,
    "device means": np.array([0, 0.042, 0.121, 0.224]),
    "never": 0.29,
    "autocorrelation": 0.577,
    "online runs": np.array([1, 2, 4, 11, 22]),
    "offline runs": np.array([3, 13, 37, 92.5, 213]),
}
# How near the synthetic trace must come: within absolute + relative · published.
TOLERANCE = {
    "hourly share": (0.015, 0),
    "mean": (0.01, 0),
    "device means": (0.01, 0.1),
    "never": (0.05, 0),
    "autocorrelation": (0.05, 0),
    "online runs": (1, 0.3),
    "offline runs": (1, 0.3),
}


def assert_near(found, expected, statistic, where):
    """Check a statistic of a synthetic trace against that of a recorded one, within its tolerance."""
    absolute, relative = TOLERANCE[statistic]
    near = np.abs(found[statistic] - expected[statistic]) <= absolute + relative * np.abs(expected[statistic])
    assert np.all(near), f"{where}: {statistic} {found[statistic]}, expected {expected[statistic]}"
