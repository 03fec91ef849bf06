"""Who is online when: statistics of the outage models on large samples with fixed seeds, and their file."""

from __future__ import annotations

import numpy as np
import pytest

from outagefl.describe.trace_statistics import hourly_share, runs, statistics
from outagefl.errors import DataError, InputError
from outagefl.inputs import availabilities
from outagefl.inputs.availability import always, bernoulli, diurnal, markov, smartphone
from outagefl.inputs.chains import two_state
from outagefl.inputs.traces import OFFLINE, ONLINE, Trace
from tests.unit.trace_statistics import PUBLISHED, assert_near


def generator(seed=0):
    return np.random.default_rng(seed)


def from_midnight(online):
    """A trace of half-hours that starts at midnight."""
    return Trace(online.astype(np.int8), 30, "00:00", {})


@pytest.fixture(scope="module", params=[1, 2, 3])
def trace(request):
    """Ten days and one slot of 2000 synthetic smartphones."""
    return smartphone.matrix(481, 2000, generator(request.param))


@pytest.mark.parametrize("statistic", PUBLISHED)
def test_smartphones_have_the_published_statistics(statistic, trace):
    assert_near(statistics(from_midnight(trace[:241])), PUBLISHED, statistic, "published")


def test_smartphones_keep_the_time_of_day_beyond_the_traces_five_days(trace):
    later = hourly_share(from_midnight(trace[240:480]))
    assert np.abs(later - PUBLISHED["hourly share"]).max() <= 0.02


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
        availabilities.create({**spec, "seed": seed}, {}, tmp_path / f"{name}.npy")
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
