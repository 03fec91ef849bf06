"""What claims measure in a run."""

import numpy as np
import pandas as pd
import pytest

from outagefl import components
from outagefl.errors import DataError


@pytest.fixture
def run(tmp_path):
    """Five evaluations every 10 rounds, of 2 virtual seconds each, mean and client 1."""
    series = {("accuracy", -1): [0.1, 0.3, 0.6, 0.5, 0.7], ("consensus_error", -1): [2, 4, 8, 8, 4]}
    series[("reception_rate", 1)] = [1, 0.9, 0.8, 0.7, 0.9]
    frames = [
        pd.DataFrame({"round": range(10, 60, 10), "time": np.arange(2.0, 12, 2), "client": client, "metric": metric})
        .assign(value=values)
        .astype({"value": float, "metric": "category"})
        for (metric, client), values in series.items()
    ]
    pd.concat(frames).astype({"metric": "category"}).to_parquet(tmp_path / "metrics.parquet", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ({"kind": "final", "metric": "accuracy"}, 60.0),  # rounds 40 and 50
        ({"kind": "largest", "metric": "accuracy"}, 70.0),
        ({"kind": "area", "metric": "accuracy"}, 360.0),
        ({"kind": "first_round", "target": 55}, 30.0),
        ({"kind": "first_round", "target": 71}, 50.0),  # never: the least it would need
        ({"kind": "growth", "metric": "consensus_error"}, 3.0),
        ({"kind": "spread", "metric": "accuracy"}, np.std([60, 50, 70], ddof=1)),  # after 5 s
        ({"kind": "spread", "metric": "reception_rate", "client": 1}, 0.1),
    ],
)
def test_a_measure(run, measure, value):
    function, options = components.load("measure", measure)
    assert function(run, 0.4, **options) == pytest.approx(value)


def test_what_was_not_measured_is_told(run):
    function, options = components.load("measure", {"kind": "final", "metric": "loss"})
    with pytest.raises(DataError, match="holds no metric 'loss'"):
        function(run, 0.1, **options)
