"""The DFL-AA paper's theory: what holds in closed form, what does not, and what the released code's order breaks."""

import numpy as np
import pytest
import torch

from outagefl.analysis.theory import inverse_weighting, local_fill, message_age, push_sum_drain
from outagefl.engines.event_simulation import events
from outagefl.errors import InputError
from outagefl.inputs.channel import bernoulli


def findings(kind, **options):
    return kind.check(np.random.default_rng(0), **options).findings


def test_local_fill_takes_q_of_the_way_unless_it_was_done_before_the_receiver_moved():
    options = {"rates": [0.5, 0.8, 1], "chunks": 200, "chunk": 2, "mean_burst": 5, "moved": 0.5, "repetitions": 500}
    in_time, bursts, early = findings(local_fill, **options)
    assert (in_time.holds, bursts.holds, early.holds) == (True, True, False)
    assert early.computed == pytest.approx(0.5 - 0.5 * 0.5 / 0.5, abs=0.02)  # q − (1 − q)·moved/(1 − moved)


def test_a_message_without_loss_is_taken_whole():
    found = local_fill.coefficients(
        np.random.default_rng(0), bernoulli.received, 1, chunks=3, chunk=2, moved=0.3, repetitions=2
    )
    assert found == pytest.approx([1, 1])


def test_push_sum_loses_a_fixed_share_a_round():
    assert push_sum_drain.left(0.5, 4) == pytest.approx(3 / 5)
    options = {"nodes": 6, "degree": 4, "rates": [0.5, 1], "rounds": 5, "chunks": 30, "repetitions": 400}
    drains, stays = findings(push_sum_drain, **options)
    assert (drains.expected, stays.expected) == (pytest.approx(0.6**5), 1)
    assert drains.computed == pytest.approx(0.6**5, rel=0.01)
    assert stays.computed == pytest.approx(1)


def test_weights_are_those_of_the_rule_with_the_rates_it_is_told():
    rates = torch.full((1, 2), 0.5, dtype=torch.float64)
    found = inverse_weighting.weights(np.array([0.4, 0.6]), np.array([0.0, 5.0]), rates, tau=5, beta=0)
    assert found == pytest.approx(np.array([2, 2 / np.e]) / (3 + 2 / np.e))


def test_the_numerator_is_free_of_q_and_the_update_is_not():
    options = {"ages": [0, 2], "rates": [0.5, 1], "tau": 5, "beta": 0.05, "chunks": 100, "repetitions": 500}
    known, tracked, update, undone = findings(inverse_weighting, **options)
    assert (known.holds, tracked.holds, update.holds, undone.holds) == (True, True, False, False)
    alpha = 1 + np.exp(-2 / 5)
    assert update.expected == pytest.approx(1 / (1 + alpha))
    assert update.computed == pytest.approx(1 / (1 + 2 * alpha), rel=0.02)
    assert undone.expected == 2
    assert undone.computed == pytest.approx((alpha / (1 + 2 * alpha)) / (0.5 * 2 / 3), rel=0.02)


@pytest.mark.parametrize("time", [10, 9.99, 7.3])
def test_the_age_of_a_message_is_that_of_its_senders_last_event(time):
    intervals = np.array([3.5, 0.2, 0.5])
    last = {}
    for moment, node in events(intervals):
        if moment > time:
            break
        last[node] = moment
        if moment == time:
            break
    assert message_age.ages(intervals, time) == pytest.approx([time - last[node] for node in range(3)])


def test_the_papers_mean_ages_lie_among_those_of_a_hundred_graphs():
    levels = [[0.5, 1.0, 2.0], [0.5, 1.0, 3.5], [0.2, 1.0, 5.0]]
    options = {"nodes": 20, "degree": 4, "cycle": True, "levels": levels, "time": 1000, "graphs": 100}
    found = findings(message_age, published=[1.09, 1.38, 1.96], **options)
    assert [one.holds for one in found] == [True] * 3
    assert not any(one.holds for one in findings(message_age, published=[0.4, 2.5, 5.0], **options))


def test_more_graphs_do_not_make_room_for_more_mean_ages():
    """The ends are the middle 95 % of the graphs, not the extremes, which any number is among at last."""
    options = {"nodes": 6, "degree": 2, "cycle": True, "levels": [[0.5, 2.0]], "time": 100, "graphs": 1000}
    checked = message_age.check(np.random.default_rng(0), published=[1.0], **options)
    ages, (found,) = checked.values["at_time"], checked.findings
    assert 0.94 < ages.between(found.low, found.high).mean() < 0.98
    assert not findings(message_age, published=[float(ages.min())], **options)[0].holds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"published": [1.0]}, "theory.published"),
        ({"levels": [[0.5, 0.5, 1], [1, 2]]}, "theory.levels"),
        ({"time": 2}, "theory.time"),
        ({"graphs": 1}, "theory.graphs"),
    ],
)
def test_levels_of_staleness_are_checked(change, message):
    options = {
        "nodes": 4,
        "degree": 2,
        "cycle": True,
        "levels": [[0.5, 1], [1, 2]],
        "published": [1, 1],
        "time": 9,
        "graphs": 2,
    }
    with pytest.raises(InputError, match=message):
        findings(message_age, **{**options, **change})
