"""What is published of the FLASH trace, and how near a synthetic trace must come."""

from __future__ import annotations

import numpy as np

# Of 241 half-hour slots and 723 devices; unknown slots count nowhere and end a run.
PUBLISHED = {
    "hourly share": np.array(
        [
            [0.090, 0.098, 0.108, 0.116, 0.120, 0.119, 0.114, 0.101, 0.088, 0.081, 0.073, 0.065],
            [0.063, 0.057, 0.057, 0.059, 0.065, 0.070, 0.077, 0.066, 0.059, 0.061, 0.071, 0.084],
        ]
    ).ravel(),
    "share online": 0.0812,
    "device mean": np.array([0, 0.042, 0.121, 0.224]),
    "share never online": 0.29,
    "autocorrelation": 0.577,
    "online run": np.array([1, 2, 4, 11, 22]),
    "offline run": np.array([3, 13, 37, 92.5, 213]),
}
# How near the synthetic trace must come: within absolute + relative · published.
TOLERANCE = {
    "hourly share": (0.015, 0),
    "share online": (0.01, 0),
    "device mean": (0.01, 0.1),
    "share never online": (0.05, 0),
    "autocorrelation": (0.05, 0),
    "online run": (1, 0.3),
    "offline run": (1, 0.3),
}


def assert_near(found, expected, statistic, where):
    """Check a statistic of a synthetic trace against that of a recorded one, within its tolerance."""
    absolute, relative = TOLERANCE[statistic]
    near = np.abs(found[statistic] - expected[statistic]) <= absolute + relative * np.abs(expected[statistic])
    assert np.all(near), f"{where}: {statistic} {found[statistic]}, expected {expected[statistic]}"
