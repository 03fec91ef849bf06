"""Gossip rules: worked numbers, and laws that every rule in the folder must obey."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from outagefl import components
from outagefl.errors import ConfigError
from outagefl.rules.gossip_view import GossipView, normalise

SIGNATURES = components.signatures("gossip rule")
RULES = sorted(SIGNATURES)
LAGS = st.integers(0, 5) | st.floats(0, 1e6)
OPTIONS = {
    "gamma": st.floats(0.001, 1),
    "margin": st.floats(0, 10),
    "limit": st.floats(0, 10),
    "age_reading": st.sampled_from(["before_training", "after_training"]),
}


@dataclass(frozen=True)
class Round:
    online: np.ndarray
    view: GossipView


@st.composite
def rounds(draw: st.DrawFn, lags: st.SearchStrategy[float] = LAGS) -> Round:
    """Any graph of up to 9 clients, anyone offline or not training, lags and ages from fresh to hopeless."""
    n = draw(st.integers(1, 9))
    upper = np.triu(draw(arrays(bool, (n, n))), 1)
    online = draw(arrays(bool, n))
    candidates = ((upper | upper.T) & np.outer(online, online)) | np.eye(n, dtype=bool)
    lag = draw(arrays(float, n, elements=lags))
    age = draw(arrays(float, n, elements=st.integers(0, 100_000)))
    mean_gap = draw(arrays(float, n, elements=st.floats(0, 10) | st.just(np.inf)))
    return Round(online, GossipView(candidates, lag, age, online & draw(arrays(bool, n)), mean_gap))


def view(
    lag: list[float],
    age: list[float] | None = None,
    mean_gap: float = np.inf,
    candidates: np.ndarray | None = None,
) -> GossipView:
    """Everyone online, training and, unless told otherwise, connected to everyone."""
    n = len(lag)
    everyone = np.ones((n, n), dtype=bool)
    return GossipView(
        candidates=everyone if candidates is None else candidates,
        lag=np.array(lag, float),
        age=np.array(age or [0] * n, float),
        trains=np.ones(n, dtype=bool),
        mean_gap=np.full(n, mean_gap),
    )


def weights(rule: str, seen: GossipView, **options: Any) -> np.ndarray:
    scores, options = components.load("gossip rule", {"kind": rule, **options})
    return normalise(scores(seen, **options), seen.candidates)


def options_of(rule: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: OPTIONS[name] for name in SIGNATURES[rule]})


@pytest.mark.parametrize("rule", RULES)
def test_all_options_of_a_rule_are_listed_above(rule: str) -> None:
    """A new option needs the values with which the laws below are tried."""
    assert set(SIGNATURES[rule]) <= set(OPTIONS)


def test_sfg_on_the_worked_example_of_the_article() -> None:
    assert weights("sfg", view([2, 0, 0]), gamma=0.5)[0] == pytest.approx([1 / 9, 4 / 9, 4 / 9])


@pytest.mark.parametrize(
    ("rule", "options", "expected"),
    [
        ("local", {}, [1, 0, 0]),
        ("dfedavg", {}, [1 / 3, 1 / 3, 1 / 3]),
        ("aoi_received", {"gamma": 0.5, "age_reading": "before_training"}, [4 / 7, 1 / 7, 2 / 7]),
        ("aoi_inclusive", {"gamma": 0.5, "age_reading": "before_training"}, [1 / 7, 2 / 7, 4 / 7]),
        ("lag_received", {"gamma": 0.5}, [4 / 7, 1 / 7, 2 / 7]),
        ("sfg", {"gamma": 0.5}, [4 / 7, 1 / 7, 2 / 7]),
        ("sfg_cut", {"gamma": 0.5, "margin": 2}, [4 / 7, 1 / 7, 2 / 7]),
        ("sfg_cut", {"gamma": 0.5, "margin": 1.5}, [2 / 3, 0, 1 / 3]),
        ("limited_merge", {"limit": 2}, [1 / 3, 1 / 3, 1 / 3]),
        ("limited_merge", {"limit": 1}, [1 / 2, 0, 1 / 2]),
        ("limited_merge", {"limit": 0.5}, [1, 0, 0]),
        ("freshest", {}, [1, 0, 0]),
    ],
)
def test_weights_of_a_small_round(rule: str, options: dict[str, Any], expected: list[float]) -> None:
    """Lags 3, 5, 4 and ages 3, 2, 1 of the receiver and its two neighbours."""
    assert weights(rule, view([3, 5, 4], [3, 2, 1]), **options)[0] == pytest.approx(expected)


def test_only_self_inclusive_rules_discount_a_stale_receiver() -> None:
    """The returning phone of the article, 8 rounds behind two fresh neighbours."""
    phone = view([8, 0, 0], [8, 0, 0])
    by_age = {"gamma": 0.5, "age_reading": "before_training"}
    protecting = [
        weights("lag_received", phone, gamma=0.5),
        weights("aoi_received", phone, **by_age),
        weights("dfedavg", phone),
    ]
    assert [mixing[0, 0] for mixing in protecting] == pytest.approx([1 / 3] * 3)
    discounting = [
        weights("sfg", phone, gamma=0.5),
        weights("aoi_inclusive", phone, **by_age),
    ]
    assert [mixing[0, 0] for mixing in discounting] == pytest.approx([1 / 513] * 2)
    dropping = [
        weights("sfg_cut", phone, gamma=0.5, margin=3),
        weights("limited_merge", phone, limit=3),
        weights("freshest", phone),
    ]
    assert [mixing[0].tolist() for mixing in dropping] == [[0, 0.5, 0.5]] * 3


def test_sfg_online_drops_who_is_further_behind_than_a_receiver_is_used_to() -> None:
    """Gaps 0, 2, 1 with mean gaps of 0.5, 1 and 2 rounds before; client 3 has met nobody yet."""
    seen = replace(view([3, 5, 4, 3]), mean_gap=np.array([0.5, 1, 2, np.inf]))
    expected = [[1 / 2, 0, 0, 1 / 2], [2 / 5, 0, 1 / 5, 2 / 5], *[[4 / 11, 1 / 11, 2 / 11, 4 / 11]] * 2]
    assert weights("sfg_online", seen, gamma=0.5) == pytest.approx(np.array(expected))


def test_sfg_online_starts_as_sfg_and_drops_the_first_stale_candidate_after_fresh_ones() -> None:
    assert (weights("sfg_online", view([2, 0, 0]), gamma=0.5) == weights("sfg", view([2, 0, 0]), gamma=0.5)).all()
    assert weights("sfg_online", view([2, 0, 0], mean_gap=0), gamma=0.5)[1].tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        ("freshest", {}),
        ("limited_merge", {"limit": 0}),
        ("sfg_cut", {"gamma": 0.5, "margin": 0}),
        ("sfg_online", {"gamma": 0.5}),
    ],
)
def test_rounding_does_not_decide_who_is_dropped(rule: str, options: dict[str, Any]) -> None:
    """Means of equal lags with other weights differ in their last digit."""
    equal = view([0.3, 0.1 + 0.2, 0.3], mean_gap=0)
    assert equal.lag[1] > equal.lag[0]
    assert weights(rule, equal, **options) == pytest.approx(np.full((3, 3), 1 / 3))


def test_metropolis_on_a_path() -> None:
    """Degrees 1, 2, 1."""
    candidates = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    assert weights("metropolis", view([0, 0, 0], candidates=candidates)) == pytest.approx(
        np.array([[2, 1, 0], [1, 1, 1], [0, 1, 2]]) / 3
    )


def test_the_freshest_is_looked_for_among_the_receivers_own_candidates() -> None:
    """A path 0–1–2: client 2, the freshest of all, is no candidate of client 0."""
    candidates = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    seen = view([5, 4, 0], candidates=candidates)
    assert weights("sfg", seen, gamma=0.5)[0] == pytest.approx([1 / 3, 2 / 3, 0])
    assert weights("freshest", seen)[0].tolist() == [0, 1, 0]


@pytest.mark.parametrize("rule", RULES)
@given(data=st.data(), played=rounds())
def test_every_rule_gives_mixing_weights(rule: str, data: st.DataObject, played: Round) -> None:
    mixing = weights(rule, played.view, **data.draw(options_of(rule)))
    assert (mixing >= 0).all()
    assert mixing.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (mixing[~played.view.candidates] == 0).all()
    assert (mixing[~played.online] == np.eye(len(mixing))[~played.online]).all()


@pytest.mark.parametrize("rule", RULES)
@given(data=st.data(), played=rounds())
def test_no_rule_depends_on_the_numbering_of_clients(rule: str, data: st.DataObject, played: Round) -> None:
    options, seen = data.draw(options_of(rule)), played.view
    order = np.array(data.draw(st.permutations(range(len(seen.lag)))))
    renumbered = GossipView(
        seen.candidates[np.ix_(order, order)],
        seen.lag[order],
        seen.age[order],
        seen.trains[order],
        seen.mean_gap[order],
    )
    expected = weights(rule, seen, **options)[np.ix_(order, order)]
    assert weights(rule, renumbered, **options) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rule", ["aoi_received", "aoi_inclusive", "lag_received", "sfg", "sfg_cut"])
@given(played=rounds())
def test_a_discount_of_one_makes_the_plain_mean(rule: str, played: Round) -> None:
    neutral = {"gamma": 1, "margin": 1e9, "age_reading": "before_training"}
    options = {name: neutral[name] for name in SIGNATURES[rule]}
    assert (weights(rule, played.view, **options) == weights("dfedavg", played.view)).all()


@given(played=rounds(), gamma=OPTIONS["gamma"])
def test_sfg_cut_with_a_huge_margin_is_sfg(played: Round, gamma: float) -> None:
    cut = weights("sfg_cut", played.view, gamma=gamma, margin=1e9)
    assert (cut == weights("sfg", played.view, gamma=gamma)).all()


@given(played=rounds(lags=st.floats(0, 20)))
def test_sfg_tends_to_the_plain_mean_as_gamma_tends_to_one(played: Round) -> None:
    mixing = weights("sfg", played.view, gamma=1 - 1e-9)
    assert mixing == pytest.approx(weights("dfedavg", played.view), abs=1e-6)


@given(played=rounds(lags=st.integers(0, 20)))
def test_sfg_tends_to_the_freshest_as_gamma_tends_to_zero(played: Round) -> None:
    """Whether one is the freshest or several share the smallest lag."""
    mixing = weights("sfg", played.view, gamma=1e-9)
    assert mixing == pytest.approx(weights("freshest", played.view), abs=1e-6)


@given(played=rounds(), margin=OPTIONS["margin"])
def test_sfg_cut_without_discount_is_limited_merge(played: Round, margin: float) -> None:
    cut = weights("sfg_cut", played.view, gamma=1, margin=margin)
    assert (cut == weights("limited_merge", played.view, limit=margin)).all()


@given(played=rounds(), gamma=OPTIONS["gamma"], margin=OPTIONS["margin"])
def test_sfg_online_is_sfg_cut_where_all_are_used_to_the_margin(played: Round, gamma: float, margin: float) -> None:
    used_to = replace(played.view, mean_gap=np.full(len(played.online), margin))
    cut = weights("sfg_cut", played.view, gamma=gamma, margin=margin)
    assert (weights("sfg_online", used_to, gamma=gamma) == cut).all()


@given(played=rounds(), gamma=OPTIONS["gamma"], margin=OPTIONS["margin"])
def test_sfg_cut_gives_nothing_beyond_the_margin(played: Round, gamma: float, margin: float) -> None:
    mixing = weights("sfg_cut", played.view, gamma=gamma, margin=margin)
    for row, among in zip(mixing, played.view.candidates, strict=True):
        freshest = played.view.lag[among].min()
        assert (row[played.view.lag - freshest > margin + 1e-8] == 0).all()
        assert row[among & (played.view.lag == freshest)].min() > 0


@pytest.mark.parametrize("rule", ["aoi_received", "aoi_inclusive"])
@given(played=rounds(), gamma=OPTIONS["gamma"])
def test_ages_read_after_training_make_the_plain_mean(rule: str, played: Round, gamma: float) -> None:
    """As long as all who are online train."""
    trained = replace(played.view, trains=played.online)
    mixing = weights(rule, trained, gamma=gamma, age_reading="after_training")
    assert (mixing == weights("dfedavg", trained)).all()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("aoi_received", [[1 / 2, 1 / 2], [1 / 3, 2 / 3]]),
        ("aoi_inclusive", [[1 / 3, 2 / 3], [1 / 3, 2 / 3]]),
    ],
)
def test_who_does_not_train_keeps_its_age(rule: str, expected: list[list[float]]) -> None:
    """A client one round old that only mixes, and a neighbour that has just trained."""
    ages = replace(view([0, 0], [1, 5]), trains=np.array([False, True]))
    assert weights(rule, ages, gamma=0.5, age_reading="after_training") == pytest.approx(np.array(expected))


@given(played=rounds())
def test_metropolis_is_symmetric_and_doubly_stochastic(played: Round) -> None:
    mixing = weights("metropolis", played.view)
    assert mixing == pytest.approx(mixing.T, abs=1e-12)
    assert mixing.sum(axis=0) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("rule", ["aoi_received", "lag_received"])
@given(played=rounds(), gamma=OPTIONS["gamma"])
def test_rules_on_the_received_never_trust_a_neighbour_more_than_the_receiver(
    rule: str, played: Round, gamma: float
) -> None:
    """The premise of the article's lower bound."""
    reading = {"age_reading": "before_training"} if rule == "aoi_received" else {}
    mixing = weights(rule, played.view, gamma=gamma, **reading)
    assert (mixing.diagonal()[:, None] >= mixing).all()


def test_hopelessly_stale_clients_still_get_weights() -> None:
    """0.5^5000 underflows to 0, and so does the discount of every neighbour of a fresh client."""
    assert weights("sfg", view([1e9, 5000, 0]), gamma=0.5)[0] == pytest.approx([0, 0, 1])
    assert weights("sfg", view([1e9, 1e9]), gamma=0.5)[0] == pytest.approx([0.5, 0.5])
    aged = view([0, 0, 0], [5000, 5000, 5000])
    assert weights("aoi_received", aged, gamma=0.5, age_reading="before_training")[0] == pytest.approx([1, 0, 0])


@pytest.mark.parametrize("gamma", [0, -0.5, 1.5, float("nan")])
def test_a_gamma_that_is_no_discount_is_refused(gamma: float) -> None:
    with pytest.raises(ConfigError, match="gamma"):
        weights("sfg", view([2, 0, 0]), gamma=gamma)


def test_a_misspelt_reading_of_the_age_is_refused_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'after_training'"):
        weights("aoi_inclusive", view([0, 0]), gamma=0.5, age_reading="after_trainin")


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_scores_that_make_no_weights_are_refused(bad: float) -> None:
    scores = np.array([[1.0, 1.0], [bad, bad]])
    with pytest.raises(ValueError, match="receiver 1"):
        normalise(scores, np.ones((2, 2), dtype=bool))


def test_scores_of_non_candidates_do_not_count() -> None:
    scores = np.array([[1.0, np.nan], [-1.0, 1.0]])
    assert (normalise(scores, np.eye(2, dtype=bool)) == np.eye(2)).all()
