"""Who is online when: statistics of the outage models on large samples with fixed seeds, and their file."""

from __future__ import annotations

import numpy as np
import pytest

from outagefl.errors import DataError, InputError
from outagefl.inputs import availabilities
from outagefl.inputs.availability import always, bernoulli, diurnal, markov, smartphone
from outagefl.inputs.chains import two_state

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99)
OFFLINE, ONLINE, UNKNOWN = 0, 1, 2


def generator(seed=0):
    return np.random.default_rng(seed)


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
        "device means": np.quantile(device, (0.5, 0.75, 0.9)),
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
    "device means": np.array([0.042, 0.121, 0.224]),
    "never": 0.29,
    "autocorrelation": 0.577,
    "online runs": np.array([1, 2, 4, 11, 22]),
    "offline runs": np.array([3, 13, 37, 92.5, 213]),
}
# How near the synthetic trace must come: within absolute + relative · published.
TOLERANCE = {
    "hourly share": (0.02, 0),
    "mean": (0.01, 0),
    "device means": (0.01, 0.1),
    "never": (0.05, 0),
    "autocorrelation": (0.05, 0),
    "online runs": (1, 0.3),
    "offline runs": (1, 0.3),
}


@pytest.fixture(scope="module", params=[1, 2, 3])
def trace(request):
    """Ten days and one slot of 2000 synthetic smartphones."""
    return smartphone.matrix(481, 2000, generator(request.param))


@pytest.mark.parametrize("statistic", PUBLISHED)
def test_smartphones_have_the_published_statistics(statistic, trace):
    absolute, relative = TOLERANCE[statistic]
    found, published = statistics(trace[:241].astype(float))[statistic], PUBLISHED[statistic]
    assert np.all(np.abs(found - published) <= absolute + relative * published), f"{found}, published {published}"


def test_smartphones_keep_the_time_of_day_beyond_the_traces_five_days(trace):
    later = statistics(trace[240:480].astype(float))
    assert np.abs(later["hourly share"] - PUBLISHED["hourly share"]).max() <= 0.02


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_the_statistics_are_computed_as_the_published_ones(shared):
    found = statistics(np.load(shared / "data" / "flash_availability_matrix.npy"))
    for name, published in PUBLISHED.items():
        assert found[name] == pytest.approx(published, abs=0.002, rel=0.002), name


def test_always_is_always():
    assert always.matrix(3, 2, generator()).tolist() == [[True, True]] * 3


@pytest.mark.parametrize("probability", [0, 0.3, 1])
def test_bernoulli_is_online_with_its_probability_and_without_memory(probability):
    online = bernoulli.matrix(500, 200, generator(), probability=probability)
    assert online.shape == (500, 200)
    assert online.mean() == pytest.approx(probability, abs=0.01)  # standard error 0.0015
    assert (online[1:] & online[:-1]).mean() == pytest.approx(probability**2, abs=0.01)


@pytest.mark.parametrize(("mean_on", "mean_off"), [(8, 16), (1, 3), (2.5, 1.25), (50, 5)])
def test_markov_runs_are_geometric_with_the_means_asked_for(mean_on, mean_off):
    online = markov.matrix(20_000, 50, generator(), mean_on=mean_on, mean_off=mean_off)
    for state, mean in ((ONLINE, mean_on), (OFFLINE, mean_off)):
        lengths = runs(online, state)  # 18,000 runs or more, of which at most 100 are cut off
        assert lengths.mean() == pytest.approx(mean, rel=0.05)
        assert (lengths == 1).mean() == pytest.approx(1 / mean, abs=0.02)


def test_markov_is_stationary_from_the_first_round_on():
    online = markov.matrix(60, 20_000, generator(), mean_on=8, mean_off=16)
    assert np.abs(online.mean(axis=1) - 1 / 3).max() < 0.02  # standard error 0.0033
    ages = runs(online[:30], ONLINE)
    assert 0 < ages.mean() < 8  # runs under way at the start are seen only in part


def test_markov_goes_up_to_never_changing_and_down_to_alternating():
    assert markov.matrix(100, 50, generator(), mean_on=1e9, mean_off=1).all()
    flips = markov.matrix(100, 50, generator(), mean_on=1, mean_off=1)
    assert (flips[1:] != flips[:-1]).all()


def test_a_chain_follows_a_share_that_changes():
    share = np.repeat([[0.1], [0.5], [0.8], [0.2], [0.2]], 40_000, axis=1)
    online = two_state(share, np.full(40_000, 0.25), generator())
    assert np.abs(online.mean(axis=1) - share[:, 0]).max() < 0.01  # standard error 0.0025
    assert online[2][online[1]].mean() == pytest.approx(0.75, abs=0.01)  # stops at its own rate where the share rises
    assert online[3][online[2]].mean() == pytest.approx(0.25, abs=0.01)  # and faster where it falls


def test_diurnal_swings_between_high_and_low():
    online = diurnal.matrix(21, 20_000, generator(), period=10, low=0.1, high=0.7, phase_spread=0)
    expected = 0.4 + 0.3 * np.cos(2 * np.pi * np.arange(21) / 10)
    assert np.abs(online.mean(axis=1) - expected).max() < 0.015  # standard error 0.0035
    sharp = diurnal.matrix(9, 50, generator(), period=4, low=0, high=1, phase_spread=0)
    assert sharp[::4].all()
    assert not sharp[2::4].any()


def test_the_phase_spread_separates_the_clients_days():
    def shares(phase_spread):
        online = diurnal.matrix(40, 20_000, generator(), period=10, low=0, high=1, phase_spread=phase_spread)
        return online.mean(axis=1)

    assert np.abs(shares(1) - 0.5).max() < 0.02  # somewhere it is always noon
    assert 0.7 < np.ptp(shares(0.25)) < 0.97  # 4 sin(π/4) / π = 0.9


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (bernoulli, {"probability": 0.5}),
        (markov, {"mean_on": 3, "mean_off": 4}),
        (diurnal, {"period": 6, "low": 0.2, "high": 0.9, "phase_spread": 0.5}),
        (smartphone, {}),
    ],
    ids=["bernoulli", "markov", "diurnal", "smartphone"],
)
def test_a_seed_determines_the_outages(kind, options):
    first, again, other = (kind.matrix(100, 60, generator(seed), **options) for seed in (1, 1, 2))
    assert first.dtype == bool
    assert first.shape == (100, 60)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


DAY = {"period": 24, "low": 0.1, "high": 0.9, "phase_spread": 0}


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (bernoulli, {"probability": 1.5}, "availability.probability: 1.5 is not a number from 0 to 1"),
        (bernoulli, {"probability": -0.1}, "availability.probability: -0.1"),
        (bernoulli, {"probability": float("nan")}, "availability.probability: nan"),
        (bernoulli, {"probability": "0.5"}, "availability.probability: '0.5'"),
        (bernoulli, {"probability": True}, "availability.probability: True"),
        (markov, {"mean_on": 0.5, "mean_off": 4}, "availability.mean_on: 0.5 is not a number from 1"),
        (markov, {"mean_on": 4, "mean_off": 0}, "availability.mean_off: 0 is not"),
        (markov, {"mean_on": 4, "mean_off": float("inf")}, "availability.mean_off: inf is not"),
        (diurnal, {**DAY, "period": 1}, "availability.period: 1 is not a number of at least 2"),
        (diurnal, {**DAY, "period": float("inf")}, "availability.period: inf"),
        (diurnal, {**DAY, "low": -1}, "availability.low: -1"),
        (diurnal, {**DAY, "high": 2}, "availability.high: 2"),
        (diurnal, {**DAY, "low": 0.95}, "availability.low: 0.95 is above availability.high, 0.9"),
        (diurnal, {**DAY, "phase_spread": 1.5}, "availability.phase_spread: 1.5"),
    ],
)
def test_bad_options_are_refused_by_name(kind, options, message):
    with pytest.raises(InputError, match=message):
        kind.matrix(10, 5, generator(), **options)


def test_a_matrix_is_made_from_its_spec_and_comes_back_as_it_was(tmp_path):
    spec = {"availability": {"kind": "bernoulli", "probability": 0.5}, "rounds": 30, "clients": 4}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        availabilities.create({**spec, "seed": seed}, None, tmp_path / f"{name}.npy")
    made, again, other = (availabilities.load(tmp_path / f"{name}.npy") for name in "abc")
    assert made.shape == (30, 4)
    assert made.dtype == bool
    assert np.array_equal(made, again)
    assert not np.array_equal(made, other)


def test_a_file_that_holds_no_matrix_is_a_data_error_that_names_it(tmp_path):
    availabilities.save(tmp_path / "whole.npy", np.ones((20, 5), bool))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-50])
    (tmp_path / "empty.npy").write_bytes(b"")
    np.save(tmp_path / "floats.npy", np.ones((20, 5)))
    np.save(tmp_path / "flat.npy", np.ones(20, bool))
    np.save(tmp_path / "objects.npy", np.array([[{}]], object))
    with open(tmp_path / "archive.npy", "wb") as stream:
        np.savez(stream, matrix=np.ones((20, 5), bool))
    for name in ("cut", "empty", "floats", "flat", "objects", "archive", "absent"):
        with pytest.raises(DataError, match=f"{name}.npy"):
            availabilities.load(tmp_path / f"{name}.npy")
