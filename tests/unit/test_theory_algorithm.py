"""FedSWE on quadratic losses and its echoes: hand-computed rounds, Proposition 4 and 17, Lemma 7, Fig. 5."""

import numpy as np
import pytest

from outagefl.analysis.theory import echoing, interpolation
from outagefl.analysis.theory.algorithm import durations, fedswe
from outagefl.errors import InputError
from outagefl.randomness import generator

AVAILABLE = np.array([[1, 0], [0, 0], [1, 1], [1, 0]], dtype=bool)


def test_durations_by_hand():
    assert durations(AVAILABLE).tolist() == [[1, 1], [1, 2], [2, 3], [1, 1]]


def test_rounds_of_the_algorithm_by_hand():
    # u = (8, −4), half of the way a round, k = 1.
    x, local = fedswe(AVAILABLE, np.array([8.0, -4.0]), 1, np.full(4, 0.5))
    # Round 0: client 1 sends 4, x = 4/2 = 2. Round 2: client 1 sends 2 − 2·½·(2 − 8) = 8, client 2 sends
    # 0 − 3·½·(0 + 4) = −6, x = (8 − 6 + 2)/3. Round 3: client 1 sends (4/3 + 8)/2, x = (14/3 + 4/3)/2.
    assert x == pytest.approx([2, 2, 4 / 3, 3])
    assert local[2] == pytest.approx([4 / 3, 4 / 3])
    assert local[3] == pytest.approx([3, 4 / 3])


@pytest.mark.parametrize("k", [0, 2])
def test_a_round_with_nobody_changes_nothing(k):
    x, local = fedswe(AVAILABLE[:2], np.array([8.0, -4.0]), k, np.full(2, 0.5))
    assert x[1] == x[0]
    assert local[1].tolist() == local[0].tolist()


def test_a_single_client_that_is_always_there_reaches_its_optimum():
    x, _ = fedswe(np.ones((60, 1), dtype=bool), np.array([5.0]), 0, np.full(60, 0.5))
    assert x[-1] == pytest.approx(5)


def test_the_limit_of_proposition_17_to_three_digits():
    optima = np.array([[10.0, 20, -30, 4], [1, 1, 1, -1]])
    expected = [((30 + 26) / 4) ** 2, (2 / 4) ** 2]
    assert interpolation.limit(optima).tolist() == expected
    x, _ = fedswe(interpolation.alternating(200, 4), optima, 0, np.full(200, 0.1))
    for last in (-2, -1):
        assert (x[last] - optima.mean(axis=1)) ** 2 == pytest.approx(expected, rel=5e-4)


@pytest.fixture(scope="module")
def alternating():
    return interpolation.check(generator(0, "test"), clients=6, problems=3, rounds=1000, learning_rate=0.1)


def test_figure_5(alternating):
    ends = alternating.values.groupby("k").tail(2).set_index("k")
    assert ends.loc[0, "output"].tolist() == pytest.approx([100, -100], rel=5e-4)
    assert ends.loc[1, "output"].tolist() == pytest.approx([0, 0], abs=1)
    apart = (ends["client 1"] - ends["client 2"]).abs()
    assert apart.loc[0].tolist() == pytest.approx([200, 200], rel=5e-4)
    assert apart.loc[1].max() < 2
    assert all(finding.holds for finding in alternating.findings)


def test_too_few_rounds_do_not_hold():
    checked = interpolation.check(generator(0, "test"), clients=2, problems=1, rounds=10, learning_rate=0.1)
    assert [finding.holds for finding in checked.findings] == [True, *[False] * 6]


def test_echoes_sum_to_the_rounds():
    assert echoing.unequal_echoes(AVAILABLE) == 0
    assert echoing.unequal_echoes(generator(0, "test").random((50, 20)) < 0.2) == 0


def test_unequal_echoes_are_counted(monkeypatch):
    monkeypatch.setattr(echoing, "durations", lambda available: np.ones(available.shape, dtype=int))
    assert echoing.unequal_echoes(AVAILABLE) == 3  # after the first absence a sum without echoes stays behind


def test_moments_by_hand():
    # After a round with p = 1/4: 1 or 2 rounds; then p = 1/2: 1 (1/2), 2 (1/8) or 3 (3/8).
    first, second = echoing.moments(np.array([0.25, 0.5, 1.0]))
    assert first == pytest.approx([1, 0.25 + 2 * 0.75, 0.5 + 2 / 8 + 9 / 8])
    assert second == pytest.approx([1, 0.25 + 4 * 0.75, 0.5 + 4 / 8 + 27 / 8])


def test_bounds_of_lemma_7_in_the_special_cases_of_remark_8():
    assert echoing.bounds(1, 1) == (2, 2)
    assert echoing.bounds(1, 0.25) == (5, 32)
    assert echoing.bounds(3, 0.5) == (5, ((2 * 0.5 + 1) ** 2 + 2 * 0.25 + 1) / 0.25)


def test_findings_on_echoing():
    options = {"probability": 0.3, "gamma": 0.3, "period": 4, "window": 10}
    checked = echoing.check(generator(0, "test"), rounds=60, repetitions=500, **options)
    assert all(finding.holds for finding in checked.findings)
    assert len(checked.findings) == 13
    values = checked.values.assign(width=lambda v: v["high"] - v["low"])
    assert ((values["mean"] - values["exact"]).abs() <= values["width"]).all()  # twice the half width
    deltas = checked.values.drop_duplicates("dynamics").set_index("dynamics")["delta"]
    expected = {"always": 1, "stationary": 0.3, "staircase": 0.21, "sine": 0.21, "periodic": 0.15}
    assert deltas.drop("interleaved").to_dict() == pytest.approx(expected)


def test_a_moment_above_its_bound_does_not_hold(monkeypatch):
    monkeypatch.setattr(echoing, "bounds", lambda length, delta: (1.5, 1e9))
    options = {"probability": 0.3, "gamma": 0.3, "period": 4, "window": 10}
    checked = echoing.check(generator(0, "test"), rounds=20, repetitions=20, **options)
    first, second = checked.findings[1::2], checked.findings[2::2]
    assert [finding.holds for finding in first] == [True, *[False] * 5]  # only who is always there stays below
    assert all(finding.holds for finding in second)


@pytest.mark.parametrize("option", [{"clients": 3}, {"rounds": 11}, {"learning_rate": 0}])
def test_interpolation_refuses_what_it_cannot_use(option):
    options = {"clients": 4, "problems": 1, "rounds": 10, "learning_rate": 0.1} | option
    with pytest.raises(InputError, match=next(iter(option))):
        interpolation.check(generator(0, "test"), **options)
