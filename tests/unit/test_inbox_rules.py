"""Inbox rules by hand: a node with up to three neighbours, rows of five numbers in chunks of two."""

from importlib import import_module

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from outagefl import components
from outagefl.errors import ConfigError
from outagefl.rules.age_and_reception import RECEPTION_RATES
from outagefl.rules.inbox_view import InboxView
from outagefl.rules.local_fill import fill, merge

NODES = 4
IPW = {"beta": 0.5, "c_min": 0.1, "q_floor": 0.05, "update_on": "aggregation"}
RULES = {
    "fedavg_drop": {"over": "in_neighbours", "if_lossy": "complete"},
    "soft_dsgd": {"over": "in_neighbours"},
    "ad_psgd": {},
    "swift": {"own_weight": 0.5},
    "swift_adaptive": {},
    "dflaa": {"tau": 2.0, **IPW},
    "ipw_only": IPW,
    "aoi_only": {"tau": 2.0, "c_min": 0.1},
}


def view(entries, *, receptions=None, receiver=0, out_neighbours=(), lossy=True, rng=0):
    """An inbox of ``entries``, sender → (completeness, generated_at); each has been received once unless told."""
    completeness, generated_at = (np.array([entry[part] for entry in entries.values()]) for part in (0, 1))
    if receptions is None:
        receptions = [(sender, entry[0]) for sender, entry in entries.items()]
    return InboxView(
        receiver,
        np.array(list(entries), dtype=np.int64),
        completeness,
        generated_at,
        receptions,
        np.array(out_neighbours, dtype=np.int64),
        lossy,
        np.random.default_rng(rng),
    )


class Rule:
    """A rule with its options and memory."""

    def __init__(self, kind, **changes):
        self.function, self.options = components.load("events rule", {"kind": kind, **RULES[kind], **changes})
        self.memory = import_module(self.function.__module__).memory(NODES, **self.options)

    def __call__(self, entries, **known):
        return self.function(view(entries, **known), self.memory, **self.options).tolist()


THREE = {1: (1.0, 4.0), 2: (0.5, 2.0), 3: (0.05, 0.0)}  # whole and new, half and older, hardly any and oldest


def test_every_rule_is_tested():
    assert RULES.keys() == components.signatures("events rule").keys()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("fedavg_drop", [1 / 2, 0, 0]),
        ("soft_dsgd", [1 / 4, 1 / 4, 1 / 4]),
        ("swift", [1 / 6, 1 / 6, 1 / 6]),
        ("swift_adaptive", [1 / 4, 1 / 4, 1 / 4]),
        ("dflaa", [1 / (2 + 2 / np.e), 2 / np.e / (2 + 2 / np.e), 0]),  # e^0 / 1, e^−1 / 0.5, skipped
        ("ipw_only", [1 / 4, 2 / 4, 0]),
        ("aoi_only", [1 / (2 + 1 / np.e), 1 / np.e / (2 + 1 / np.e), 0]),
    ],
)
def test_three_neighbours_by_hand(kind, expected):
    assert Rule(kind)(THREE) == pytest.approx(expected)


@pytest.mark.parametrize("kind", RULES)
def test_an_empty_inbox_leaves_the_receiver_its_own_model(kind):
    weights = Rule(kind)({})
    own = torch.arange(5.0)
    assert weights == []
    assert torch.equal(merge(own, [], np.zeros((0, 3), bool), np.array(weights), 2), own)


@pytest.mark.parametrize("kind", RULES)
def test_messages_that_were_all_lost_leave_the_receiver_its_own_model(kind):
    weights = np.array(Rule(kind)({1: (0.0, 1.0), 3: (0.0, 2.0)}))
    own, nonsense = torch.arange(5.0), torch.full((5,), torch.nan)
    merged = merge(own, [nonsense, nonsense], np.zeros((2, 3), bool), weights, 2)
    assert merged.tolist() == pytest.approx(own.tolist())


@pytest.mark.parametrize("kind", RULES)
def test_one_complete_neighbour_counts_as_much_as_the_receiver(kind):
    assert Rule(kind)({2: (1.0, 7.0)}) == pytest.approx([0.5])


@given(
    st.sampled_from(sorted(RULES)),
    st.dictionaries(st.integers(1, 3), st.tuples(st.floats(0, 1), st.floats(0, 1e6))),
    st.sampled_from(["reception", "aggregation"]),
)
def test_weights_are_never_negative_nor_more_than_the_whole(kind, entries, update_on):
    changes = {"update_on": update_on} if "update_on" in RULES[kind] else {}
    weights = np.array(Rule(kind, **changes)(entries))
    assert len(weights) == len(entries)
    assert (weights >= 0).all()
    assert weights.sum() < 1


def test_ad_psgd_takes_half_of_any_one_entry():
    drawn = [tuple(Rule("ad_psgd")(THREE, rng=seed)) for seed in range(300)]
    assert set(drawn) == {(0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)}
    assert all(70 <= drawn.count(one) <= 130 for one in set(drawn))  # standard deviation 8


def test_the_receivers_own_weight_in_swift_is_an_option():
    assert Rule("swift", own_weight=0.25)(THREE) == pytest.approx([0.25] * 3)


@pytest.mark.parametrize("kind", ["soft_dsgd", "fedavg_drop"])
def test_released_code_counts_nodes_that_the_receiver_sends_to(kind):
    entries = {1: (1.0, 0.0), 2: (1.0, 0.0), 3: (1.0, 0.0)}
    assert Rule(kind, over="out_neighbours")(entries, out_neighbours=[2]) == pytest.approx([0, 1 / 2, 0])
    assert Rule(kind, over="out_neighbours")(entries, out_neighbours=[]) == [0, 0, 0]
    with pytest.raises(ConfigError, match="over: unknown neighbourhood 'neighbours'"):
        Rule(kind, over="neighbours")(entries)


def test_released_fedavg_takes_nothing_once_any_link_is_lossy():
    entries = {1: (1.0, 0.0), 2: (0.5, 0.0)}
    assert Rule("fedavg_drop", if_lossy="none")(entries) == [0, 0]
    assert Rule("fedavg_drop", if_lossy="none")(entries, lossy=False) == [0.5, 0]
    with pytest.raises(ConfigError, match="did you mean 'complete'"):
        Rule("fedavg_drop", if_lossy="complet")(entries)


def rates(rule, receiver=0):
    return rule.memory[RECEPTION_RATES][receiver].tolist()


@pytest.mark.parametrize("kind", ["dflaa", "ipw_only"])
def test_rates_are_updated_at_each_aggregation_for_what_lies_in_the_inbox(kind):
    rule = Rule(kind)
    rule({1: (0.8, 0.0), 3: (0.05, 0.0)}, receptions=[(1, 0.8), (2, 0.9), (3, 0.05)])
    assert rates(rule) == pytest.approx([np.nan, 0.8, np.nan, np.nan], nan_ok=True)
    rule({1: (0.8, 0.0)}, receptions=[])  # the same message again
    rule({1: (0.4, 1.0)})
    assert rates(rule)[1] == pytest.approx(0.6)
    rule({1: (0.0, 2.0)})  # too incomplete to count
    assert rates(rule)[1] == pytest.approx(0.6)
    assert np.isnan(rates(rule, receiver=1)).all()


@pytest.mark.parametrize("kind", ["dflaa", "ipw_only"])
def test_rates_are_updated_at_each_reception_whatever_arrived_and_only_once(kind):
    rule = Rule(kind, update_on="reception")
    rule({1: (0.0, 3.0)}, receptions=[(1, 0.8), (2, 0.4), (1, 0.4), (1, 0.0)])
    assert rates(rule) == pytest.approx([np.nan, 0.3, 0.4, np.nan], nan_ok=True)
    rule({1: (0.0, 3.0)}, receptions=[])
    assert rates(rule)[1:3] == pytest.approx([0.3, 0.4])


def test_a_rate_is_that_of_its_own_receiver():
    rule = Rule("ipw_only")
    rule({1: (0.5, 0.0)}, receiver=0)
    assert rule({1: (1.0, 0.0)}, receiver=2) == pytest.approx([0.5])
    assert rates(rule)[1] == 0.5


def test_a_weight_grows_no_further_than_the_floor_of_the_rate_allows():
    rule = Rule("ipw_only", c_min=0.0, q_floor=0.25)
    assert rule({1: (0.01, 0.0)}) == pytest.approx([4 / 5])


def test_a_message_too_incomplete_to_be_used_still_makes_others_look_old():
    alone, beside = (Rule("aoi_only")({1: (1.0, 0.0), **more}) for more in ({}, {3: (0.05, 2.0)}))
    assert alone == pytest.approx([1 / 2])
    assert beside == pytest.approx([1 / np.e / (1 + 1 / np.e), 0])


def test_the_time_of_update_is_checked():
    with pytest.raises(ConfigError, match="update_on: unknown time of update 'on_reception'; did you mean 'reception'"):
        Rule("dflaa", update_on="on_reception")


def test_missing_chunks_are_filled_and_the_last_one_may_be_short():
    own, sent = torch.arange(5.0), torch.tensor([10.0, 11, 12, 13, 14])
    assert fill(own, sent, np.array([True, False, True]), 2).tolist() == [10, 11, 2, 3, 14]
    assert fill(own, sent, np.array([False, True, False]), 2).tolist() == [0, 1, 12, 13, 4]
    assert fill(own, sent, np.ones(3, bool), 2) is sent


def test_a_merge_takes_each_entry_by_its_weight_and_touches_no_model():
    own, sent = torch.tensor([0.0, 8, 8]), torch.tensor([[4.0, 4, 100], [8.0, 100, 0]])
    before = own.clone()
    arrived = np.array([[True, True, False], [True, False, True]])
    merged = merge(own, sent, arrived, np.array([0.25, 0.5]), 1)
    assert merged.tolist() == [0 + 1 + 4, 2 + 1 + 4, 2 + 2 + 0]
    assert torch.equal(own, before)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 3), st.integers(0, 99))
def test_a_merge_is_the_weighted_sum_of_filled_models(parameters, chunk, entries, seed):
    rng = np.random.default_rng(seed)
    own, *sent = torch.from_numpy(rng.normal(size=(entries + 1, parameters)))
    arrived = rng.random((entries, -(-parameters // chunk))) < 0.5
    weights = rng.dirichlet(np.ones(entries + 1))[1:]
    filled = [fill(own, row, flags, chunk) for row, flags in zip(sent, arrived, strict=True)]
    expected = (1 - weights.sum()) * own + sum(w * row for w, row in zip(weights, filled, strict=True))
    assert merge(own, sent, arrived, weights, chunk).tolist() == pytest.approx(expected.tolist())


def test_local_fill_shrinks_the_step_towards_a_neighbour_by_the_reception_rate():
    """Proposition 1: E[ŵ_j − w_i] = q (w_j − w_i)."""
    own, sent = torch.full((20_000,), 1.0), torch.full((20_000,), 3.0)
    arrived = np.random.default_rng(0).random(20_000) < 0.7
    assert float((fill(own, sent, arrived, 1) - own).mean()) == pytest.approx(
        0.7 * 2, abs=0.03
    )  # standard error 0.0065


@pytest.mark.parametrize("weights", [[0.7, 0.7], [-0.1, 0.2], [np.nan, 0.1]])
def test_a_rule_that_breaks_its_contract_is_an_error(weights):
    with pytest.raises(ValueError, match="weights of an inbox must be non-negative and sum to at most 1"):
        merge(torch.zeros(2), torch.zeros(2, 2), np.ones((2, 1), bool), np.array(weights), 2)
