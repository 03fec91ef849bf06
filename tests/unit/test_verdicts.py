"""Verdicts: the rule itself, the tests it rests on, and how often it is wrong where the truth is known."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from outagefl.analysis import estimates
from outagefl.analysis.verdicts import ALPHA, judge
from tests.unit.simulated_studies import KINDS, uneven, verdicts


@pytest.mark.parametrize(
    ("says", "published", "high", "p", "p_against", "verdict"),
    [
        ("effect", 4.0, 4.2, 0.01, 1.0, "reproduced"),  # inside the interval
        ("effect", 4.0, 7.0, 0.01, 1.0, "reproduced"),  # exceeded
        ("effect", 4.0, 3.0, 0.01, 1.0, "direction only"),
        ("effect", 4.0, 0.3, 0.01, 0.01, "direction only"),  # real, if negligible: the direction holds
        ("effect", 4.0, -1.0, 1.0, 0.01, "not reproduced"),
        ("effect", 4.0, 5.0, 0.2, 0.8, "unresolved"),
        ("effect", 4.0, 5.0, 0.05, 1.0, "unresolved"),  # the level itself is not below it
        ("effect", 4.0, np.nan, np.nan, np.nan, "unresolved"),  # a single seed
        ("effect", np.nan, 3.0, 0.01, 1.0, "reproduced"),  # a direction alone
        ("wins", 99.2, 98.0, 0.01, 1.0, "direction only"),
        ("at most", 1.7, 1.0, 0.01, 1.0, "reproduced"),  # a bound has no size to fall short of
        ("about", 80.0, 79.0, 0.01, 1.0, "reproduced"),
        ("about", 80.0, 79.0, 0.5, 0.01, "not reproduced"),
    ],
)
def test_rule(says, published, high, p, p_against, verdict):
    assert judge(says, published, high, p, p_against) == verdict


SEEDS = np.array([1.0, 2.5, 2.0, 3.5])


def test_one_sided_tests_are_those_of_scipy():
    for bound in (0, 2, 5):
        assert estimates.above(SEEDS, bound) == pytest.approx(
            stats.ttest_1samp(SEEDS, bound, alternative="greater").pvalue
        )
        assert estimates.below(SEEDS, bound) == pytest.approx(
            stats.ttest_1samp(SEEDS, bound, alternative="less").pvalue
        )
    expected = stats.ttest_1samp(SEEDS, 0).confidence_interval(0.95)
    assert estimates.interval(SEEDS, 0.95) == pytest.approx((expected.low, expected.high))


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=9).filter(lambda x: np.ptp(x) > 0.01), st.floats(-9, 9))
def test_a_claim_and_its_opposite_cannot_both_be_supported(values, bound):
    x = np.array(values)
    for evidence in (estimates.at_least(bound, 0), estimates.at_most(bound, 0)):
        assert max(evidence(x)) == 1 or min(evidence(x)) > 0.9
    for evidence in (estimates.about(bound, 1), estimates.effect(0)):
        assert max(evidence(x)) >= 0.5


def contrast(*by_seed, settings=1):
    index = pd.MultiIndex.from_product([range(settings), range(len(by_seed))], names=["place", "seed"])
    return pd.Series(np.tile(by_seed, settings), index=index, dtype=float)


def effect(contrasts, smallest=0.5, any_of=False):
    return estimates.estimate(contrasts, estimates.effect(smallest), lambda mean: -mean, any_of)


def test_of_several_all_must_hold_and_the_weakest_is_shown():
    strong, weak = contrast(9, 8, 9.5), contrast(0.5, -0.2, 0.6)
    found = effect({"strong": strong, "weak": weak})
    assert found.note == "weakest of 2: weak"
    assert found.ours == pytest.approx(0.3)
    assert found.p == effect({"weak": weak}).p
    alone = stats.ttest_1samp(weak, 0).confidence_interval(0.975)  # one of two at once
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    opposite = contrast(-9, -8, -9.5)
    found = effect({"strong": strong, "opposite": opposite})
    assert found.p == 1
    assert found.p_against == pytest.approx(2 * effect({"opposite": opposite}).p_against)


def test_of_any_the_best_pays_for_the_choice():
    strong, weak = contrast(9, 8, 9.5), contrast(0.5, -0.2, 0.6)
    found = effect({"strong": strong, "weak": weak}, any_of=True)
    assert found.note == "best of 2: strong"
    assert found.p == pytest.approx(2 * effect({"strong": strong}).p)


def test_settings_of_a_seed_are_not_independent():
    one, many = effect({"": contrast(1, 2.5, 2)}), effect({"": contrast(1, 2.5, 2, settings=50)})
    assert (one.p, one.n) == (many.p, many.n) == (pytest.approx(stats.ttest_1samp([1, 2.5, 2], 0).pvalue), 3)


def test_too_little_data_is_no_evidence():
    found = effect({"": contrast(9.0)})
    assert np.isnan([found.p, found.p_against, found.low]).all()
    assert found.note == "one seed: no interval and no test"
    found = effect({"": contrast(2, 2, 2)})
    assert np.isnan([found.p, found.p_against]).all()
    assert found.note == "the same for every seed: no spread to test with"


def test_evidence_of_one_side_alone_counts_twice():
    for bound, off in ((5.0, estimates.below(SEEDS, 4)), (0.0, estimates.above(SEEDS, 1))):
        assert estimates.about(bound, 1)(SEEDS)[1] == pytest.approx(2 * off)


def test_any_of_several_is_corrected_for_their_number_even_of_those_without_a_test():
    strong, untested = contrast(1, 2.5, 2, 3.5), contrast(2, 2, 2, 2)
    found = effect({"untested": untested, "strong": strong}, any_of=True)
    assert found.p == pytest.approx(2 * effect({"strong": strong}).p)
    weak = contrast(0.5, -0.2, 0.6, -0.7)
    assert effect({"one": weak, "other": weak, "third": weak}, any_of=True).p == 1


def test_runs_that_differ_by_rounding_alone_are_the_same():
    same = contrast(0.1 + 0.2 - 0.3, 0, 0.3 - 0.2 - 0.1)
    assert np.ptp(same) > 0
    assert (effect({"": same}).p, effect({"": same}).p_against) == (1, 0)


def test_methods_that_do_the_same_leave_no_doubt():
    found = effect({"": contrast(0, 0, 0)})
    assert (found.p, found.p_against) == (1, 0)
    parity = estimates.estimate({"": contrast(0, 0)}, estimates.about(0, 0.5), abs, False)
    assert (parity.p, parity.p_against) == (0, 1)


def test_a_sign_test_says_when_it_has_too_few_seeds():
    found = estimates.wins(contrast(1, 1, 1, 1, 1, settings=4))
    few = "by seed 5 won, 0 lost: too few to decide, no p-value of a sign test over them is below 0.0625"
    assert found.note == f"20 of 20 pairs; {few}"
    assert (found.ours, found.n, found.p) == (100, 5, 0.0625)
    found = estimates.wins(contrast(1, 1, 1, -1, 1, 1, 1, 1, 1))
    assert found.note == "8 of 9 pairs; by seed 8 won, 1 lost"
    assert found.p == pytest.approx(stats.binomtest(8, 9).pvalue)
    expected = stats.binomtest(8, 9).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((100 * expected.low, 100 * expected.high))


def test_wins_are_decided_on_the_side_of_the_seeds():
    """Few seeds that win everything outweigh many that lose narrowly, in the share of pairs alone."""
    for sign, better, worse in ((1, "p", "p_against"), (-1, "p_against", "p")):
        found = estimates.wins(sign * uneven(4, 16))
        assert sign * (found.ours - 50) == pytest.approx(100 * (128 / 240 - 0.5))
        assert getattr(found, better) == 1
        assert getattr(found, worse) == pytest.approx(stats.binomtest(4, 20).pvalue)
    assert judge("wins", 90, found.high, found.p, found.p_against) == "direction only"


def test_pairs_that_are_equal_count_half_and_for_no_side():
    found = estimates.wins(contrast(*[1] * 8, *[0] * 12))
    assert (found.ours, found.p, found.p_against) == (70, pytest.approx(2 / 2**8), 1)
    assert found.note == "8 of 20 pairs, 12 equal; by seed 8 won, 0 lost"
    found = estimates.wins(contrast(*[0] * 20))
    assert (found.ours, found.p, found.p_against) == (50, 1, 1)


@pytest.mark.parametrize("tied", [0, 0.4])
@pytest.mark.parametrize("pairs", [(12, 5), (7, 0), (7, 5)])
def test_neither_side_of_wins_is_taken_too_often_where_seeds_win_and_lose_alike(pairs, tied):
    """Exactly, over all numbers of seeds that win, lose and tie: at most half of 5 % for each side."""
    wrong = np.zeros(2)
    for won, lost in filter(lambda seeds: sum(seeds) <= 20, product(range(21), repeat=2)):
        seeds = (won, lost, 20 - won - lost)
        if chance := stats.multinomial.pmf(seeds, 20, [(1 - tied) / 2, (1 - tied) / 2, tied]):
            found = estimates.wins(uneven(*seeds, pairs))
            wrong += chance * np.array([found.p < ALPHA, found.p_against < ALPHA])
    assert wrong.max() <= ALPHA / 2


def test_what_stays_open_is_counted_without_a_correction():
    contrasts = {"off": contrast(4, 5, 4.4), "same": contrast(0.01, -0.01, 0), "open": contrast(5, -4, 1)}
    found = estimates.unresolved(contrasts, 0.5, 3)
    assert (found.ours, found.n) == (1, 3)
    assert found.note == "off: different, same: equivalent, open: open"
    nearly = contrast(4, 5, 1.5)  # p = .07 corrected for two, .036 as it is
    assert estimates.unresolved({"nearly": contrast(4, 5, 2.2), "other": nearly}, 0.5, 3).note.startswith(
        "nearly: diff"
    )
    few = estimates.unresolved(contrasts, 0.5, 4)
    assert np.isnan(few.ours)
    assert few.note == "3 of 4 seeds: too few to tell what stays unresolved"


STUDIES, SLACK = 120, 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)  # 5 % and three standard deviations of so many draws


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_true_is_seldom_reproduced_and_what_is_true_often(kind):
    """``benchmarks/verdicts.py`` measures it with 1,000 studies of 3, 5, 10 and 30 seeds."""
    claim, published, null, reverse = KINDS[kind]
    key = list(KINDS).index(kind)
    assert verdicts(claim, null, 10, STUDIES, key)["reproduced"] / STUDIES < SLACK
    reversed_, true = (verdicts(claim, truth, 10, 30, key) for truth in (reverse, published))
    assert reversed_["reproduced"] == 0
    assert reversed_["not reproduced"] > 20
    assert true["reproduced"] > 10
    assert true["not reproduced"] < 3
