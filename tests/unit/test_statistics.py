"""Statistics on frozen numbers, against textbook examples, hand calculations and the libraries called directly."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from outagefl.analysis.comparisons import ALL, comparisons
from outagefl.analysis.statistics import bootstrap_interval, clustered, compare, holm, sign_test, t_half_width

DATA = Path(__file__).parent.parent / "data" / "analysis"

# Student (1908), extra hours of sleep under two drugs; the paired t-test as printed in R's ?t.test and textbooks.
SLEEP_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
# Hollander & Wolfe (1973), p. 29, depression scale before and after tranquillizer; in R's ?wilcox.test.
BEFORE = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
AFTER = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])


def test_students_sleep_data():
    result = compare(SLEEP_1 - SLEEP_2, margin=0.5)
    assert result.n == 10
    assert result.difference == pytest.approx(-1.58)
    assert result.p_t == pytest.approx(0.002833, abs=5e-7)
    assert result.effect * np.sqrt(10) == pytest.approx(-4.0621, abs=5e-5)
    assert (result.wins, result.losses) == (0, 9)
    # One pair is tied; of the 2⁹ sign patterns of the rest only two are as extreme, for ranks and signs alike.
    assert result.p_wilcoxon == pytest.approx(2 / 2**9)
    assert result.p_sign == pytest.approx(2 / 2**9)


def test_sleep_t_interval():
    difference = SLEEP_1 - SLEEP_2
    half = t_half_width(difference.std(ddof=1), 10)
    assert difference.mean() - half == pytest.approx(-2.4598858)
    assert difference.mean() + half == pytest.approx(-0.7001142)


def test_hollander_wolfe_depression_data():
    assert compare(BEFORE - AFTER, margin=0.1).p_wilcoxon == pytest.approx(2 * 0.01953125)


def test_equivalence_by_hand():
    # mean 0, standard error 1/√3, 3 degrees of freedom: P(T > √3) = 1/4 − 1/(2π).
    assert compare([1, -1, 1, -1], margin=1).p_equivalence == pytest.approx(0.25 - 1 / (2 * np.pi))


@pytest.mark.parametrize(
    ("wins", "losses", "expected"), [(9, 1, 22 / 1024), (5, 5, 1.0), (0, 0, 1.0), (119, 1, 2 * 121 / 2**120)]
)
def test_sign_test(wins, losses, expected):
    assert sign_test(wins, losses) == pytest.approx(expected)


def test_bca_interval_against_every_resample():
    """The BCa formula of Efron & Tibshirani (1993, 14.10) over all 6⁶ equally likely resamples."""
    values = np.array([0.3, 0.9, 1.1, 1.4, 2.2, 5.0])
    means = np.sort(np.array(list(product(values, repeat=6))).mean(axis=1))
    below = (np.sum(means < values.mean() - 1e-12) + np.sum(means < values.mean() + 1e-12)) / 2 / len(means)
    bias = stats.norm.ppf(below)
    jackknife = (values.sum() - values) / 5
    skew = jackknife.mean() - jackknife
    acceleration = (skew**3).sum() / (6 * (skew**2).sum() ** 1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    low, high = np.quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z)))
    found = bootstrap_interval(values)
    assert found[0] == pytest.approx(low, abs=0.05)  # the error of 9,999 resamples
    assert found[1] == pytest.approx(high, abs=0.2)
    assert np.quantile(means, 0.975) < high - 0.4  # so a plain percentile interval would fail
    assert found == bootstrap_interval(values)


@pytest.mark.parametrize("values", [[2.0, 2.0, 2.0], [0.1 + 0.2, 0.3, 0.3]])
def test_equal_differences_have_rank_tests_but_no_t_test(values):
    result = compare(values, margin=5)
    assert result.low == result.difference == result.high
    assert np.isnan([result.p_t, result.effect]).all()
    assert result.p_equivalence == 0
    assert compare(values, margin=0.1).p_equivalence == 1
    assert result.p_wilcoxon == result.p_sign == pytest.approx(0.25)


def test_methods_that_do_the_same_are_equivalent():
    assert compare([0.0, 0.0], margin=0.5).p_equivalence == 0
    assert clustered([0.0] * 4, seeds=[0, 0, 1, 1], margin=0.5).p_equivalence == 0


def test_no_difference_at_all():
    result = compare([0.0, 1e-12, -1e-12], margin=1)
    assert (result.p_t, result.p_wilcoxon, result.p_sign) == (1, 1, 1)
    assert (result.low, result.high, result.wins, result.losses) == (0, 0, 0, 0)


def test_one_pair_proves_nothing():
    result = compare([3.0], margin=1)
    assert result.difference == 3
    assert np.isnan([result.low, result.high, result.p_t, result.effect, result.p_equivalence]).all()
    assert result.p_wilcoxon == result.p_sign == 1


def test_clustered_with_every_seed_in_every_setting_is_the_t_test_on_seed_means():
    result = clustered([0, 1, 3, 2, 3, 3], seeds=[0, 1, 2, 0, 1, 2], margin=4)
    # Seed means 1, 2, 3: mean 2, standard error 1/√3; two degrees of freedom have a closed form.
    assert result.difference == pytest.approx(2)
    assert result.p_t == pytest.approx(1 - np.sqrt(12 / 14))
    assert result.high - 2 == pytest.approx(4.302653 / np.sqrt(3), abs=1e-6)
    assert result.p_equivalence == pytest.approx((1 - np.sqrt(12 / 14)) / 2)


def test_clustered_of_uneven_clusters_by_hand():
    # residuals −2, 0 | 2: variance 2/(2−1) · (2² + 2²) / 3² = 16/9; t = 9/4 on one degree of freedom (Cauchy).
    result = clustered([1, 3, 5], seeds=[0, 0, 1], margin=1)
    assert result.p_t == pytest.approx(1 - 2 * np.arctan(9 / 4) / np.pi)
    assert (result.wins, result.losses, result.n) == (3, 0, 3)


def test_clustered_needs_two_seeds():
    result = clustered([1.0, 2.0, 3.0], seeds=[7, 7, 7], margin=1)
    assert result.difference == 2
    assert np.isnan([result.low, result.p_t, result.p_equivalence]).all()


def test_pairs_of_one_seed_do_not_count_as_new_evidence():
    differences, seeds = np.array([1.0, 2.0, 4.0]), np.array([0, 1, 2])
    once = clustered(differences, seeds, margin=1)
    copied = clustered(np.tile(differences, 10), np.tile(seeds, 10), margin=1)
    assert copied.p_t == pytest.approx(once.p_t)
    assert once.p_t == pytest.approx(compare(differences, margin=1).p_t)


def test_holm_by_hand():
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert np.isnan(holm([np.nan])).all()


@pytest.mark.parametrize("p", [[0.7], [0.5, 0.01, 0.01, 0.9, 0.0], [0.04, 0.03, 0.02, 1.0, 0.011, 0.03]])
def test_holm_only_raises_and_keeps_the_order(p):
    corrected = holm(p)
    assert (corrected >= np.array(p)).all()
    assert (corrected <= 1).all()
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9))
@settings(max_examples=10)  # two bootstraps each
def test_swapping_the_methods_mirrors_the_comparison(differences):
    one, other = compare(differences, margin=5), compare([-d for d in differences], margin=5)
    assert one.difference == -other.difference
    assert (one.wins, one.losses) == (other.losses, other.wins)
    mirrored = [one.p_t, one.p_wilcoxon, one.p_sign, one.p_equivalence]
    assert mirrored == pytest.approx([other.p_t, other.p_wilcoxon, other.p_sign, other.p_equivalence], nan_ok=True)
    assert one.low <= one.difference + 1e-9
    assert one.high >= one.difference - 1e-9


def test_frozen_experiment():
    """Comparisons of a frozen result file; expected.csv was worked out with scipy and statsmodels alone."""
    scores = pd.read_csv(DATA / "scores.csv")
    expected = pd.read_csv(DATA / "expected.csv")
    found = comparisons(scores, ["dfedavg"], margin=0.5)
    found = found[found["method"] != "dfedavg"].reset_index(drop=True)
    assert list(found["setting"]) == list(expected["setting"])
    assert list(found["setting"])[-2:] == [ALL, ALL]
    for column in expected.columns[2:]:
        numbers = found[column].astype(float)
        assert numbers.to_numpy() == pytest.approx(expected[column].to_numpy(), rel=1e-6, nan_ok=True), column
