"""The SFG study's theory: the model's formula, the bound and who is bound by it, and the article's toy."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from outagefl.analysis.looks import label
from outagefl.analysis.theory import aggregation_bound, aggregation_error, scalar_toy
from outagefl.analysis.theory.aggregation import bound, class_weights, error, floor, overtaken, simulate
from outagefl.analysis.theory.neighbourhood import errors, gossip_rules, receiver_weights, with_receiver
from outagefl.analysis.theory.result import mean_interval
from outagefl.inputs.graphs import adjacency
from outagefl.randomness import generator

STUDY = yaml.safe_load((Path(__file__).parents[2] / "config" / "studies" / "sfg.yaml").read_text())
METHODS = {name: STUDY["methods"][name]["rule"] for name in STUDY["theory"]["aggregation_error"]["methods"]}
RULES = gossip_rules(METHODS)
PROTECTING = {"local", "dfedavg", "metropolis", "aoi_received", "lag_received"}
MODEL = (1.0, 4.0)
ROUNDING = 1e-9


def findings(kind, **options):
    checked = kind.check(generator(0, "test"), **options)
    return {finding.statement: finding for finding in checked.findings}


def labels(names):
    return {label(name) for name in names}


def test_the_error_by_hand():
    # Half of a model 3 rounds old, half of one 1 round old: they share a step, the older has two of its own.
    assert error(np.array([0.5, 0.5]), np.array([3.0, 1.0]), 2, 0) == pytest.approx(2 * (1 + 2 * 0.25))
    assert error(np.array([1 / 9, 4 / 9, 4 / 9]), np.array([2.0, 0, 0]), 1, 0) == pytest.approx(2 / 81)
    assert error(np.array([[0.5, 0.5], [1, 0]]), np.zeros(2), 1, 6) == pytest.approx([3, 6])
    assert error(np.array([1.0]), np.array([7.0]), 2, 3) == pytest.approx(17)


def test_the_error_is_that_of_simulated_models():
    weights, lags = np.array([[0.5, 0.3, 0.2], [0, 1, 0], [1 / 3] * 3]), np.array([9, 4, 0])
    mean, low, high = mean_interval(simulate(generator(0, "test"), weights, lags, 0.5, 2, 40_000), 3)
    expected = error(weights, lags.astype(float), 0.5, 2)
    assert (low <= expected).all()
    assert (expected <= high).all()
    assert mean == pytest.approx(expected, rel=0.03)


def test_bounds_by_hand():
    lags = np.array([[8.0, 0, 0], [8, 2, 5], [3, 3, 3], [0, 4, 4]])
    assert floor(lags, 2, 6) == pytest.approx([2, 6, 8, 2])
    assert bound(lags, 2, 6) == pytest.approx([2 + 16 / 9, 6 + 12 / 9, 8, 2])
    uniform = np.full(3, 1 / 3)
    assert error(uniform, lags, 2, 6)[[0, 2]] == pytest.approx(bound(lags, 2, 6)[[0, 2]])  # reached


@st.composite
def aggregates(draw):
    """Non-negative weights with the receiver's the largest, and lags, of 1 to 6 candidates."""
    size = draw(st.integers(1, 6))
    parts = draw(arrays(float, size, elements=st.floats(0, 1)))
    parts[0] = max(parts.max(), 0.01)
    return parts / parts.sum(), draw(arrays(float, size, elements=st.one_of(st.just(0.0), st.floats(0, 1e6))))


@settings(max_examples=150)
@given(aggregates(), st.floats(0.01, 10), st.floats(0, 100))
def test_no_rule_of_the_class_is_below_the_bound(aggregate, drift, dispersion):
    weights, lags = aggregate
    found = error(weights, lags, drift, dispersion)
    assert found >= bound(lags, drift, dispersion) * (1 - ROUNDING)
    assert found >= drift * lags[0] / len(lags) ** 2 * (1 - ROUNDING)


@settings(max_examples=100)
@given(aggregates(), st.randoms(use_true_random=False))
def test_no_weights_at_all_are_below_the_floor(aggregate, order):
    weights, lags = aggregate
    order.shuffle(weights)
    assert error(weights, lags, *MODEL) >= floor(lags, *MODEL) * (1 - ROUNDING)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_which_rules_protect_the_receiver(name):
    lags = with_receiver([0, 1, 5, 50], generator(0, "test").integers(0, 6, (1, 20, 3)))
    weights = np.array([receiver_weights(RULES[name], row) for row in lags.reshape(-1, 4)])
    protects = (weights[:, :1] >= weights - ROUNDING).all()
    assert protects == (name in PROTECTING)
    above = errors(RULES[name], lags, *MODEL) >= bound(lags, *MODEL) * (1 - ROUNDING)
    assert above.all() == protects


@given(st.integers(1, 8), st.floats(0.05, 0.95), st.floats(0.1, 20))
@settings(max_examples=30)
def test_sfg_is_ahead_of_uniform_weights_from_a_known_outage_on(neighbours, gamma, dispersion):
    latest = int(overtaken(neighbours, 1, dispersion)) + 1
    lags = with_receiver([latest, 2 * latest, 1e6], np.zeros((1, 1, neighbours)))
    rules = gossip_rules({"sfg": {"kind": "sfg", "gamma": gamma}, "dfedavg": {"kind": "dfedavg"}})
    sfg, uniform = (errors(rules[name], lags, 1, dispersion)[:, 0] for name in ("sfg", "dfedavg"))
    assert (sfg < uniform).all()
    assert sfg[-1] == pytest.approx(dispersion / neighbours)
    assert uniform[-1] == pytest.approx(1e6 / (neighbours + 1) ** 2 + dispersion / (neighbours + 1))


def test_random_weights_are_of_the_class_and_of_every_kind():
    weights = class_weights(generator(0, "test"), 500, 3)
    assert weights.sum(axis=1) == pytest.approx(np.ones(500))
    assert weights.min() >= 0
    assert (weights[:, 0] == weights.max(axis=1)).all()
    assert weights[:, 0].min() < 0.3
    assert weights[:, 0].max() > 0.99


def test_findings_on_the_bound():
    found = findings(
        aggregation_bound, methods=METHODS, neighbours=4, drift=1, dispersion=4, draws=2000, repetitions=100
    )
    broken = {statement for statement, finding in found.items() if not finding.holds}
    assert broken == {f"Within the bound: {name}" for name in labels(set(METHODS) - PROTECTING)}
    assert found["Within the bound: DFedAvg"].computed == pytest.approx(1)


def test_findings_on_the_error():
    options = {"neighbours": 4, "drift": 1, "dispersion": 4, "outages": [0, 4, 5, 30], "mean_on": 8, "mean_off": 16}
    checked = aggregation_error.check(
        generator(0, "test"), methods=METHODS, method="sfg", baseline="dfedavg", repetitions=100, **options
    )
    assert all(finding.holds for finding in checked.findings)
    grows = [finding for finding in checked.findings if "without limit" in finding.statement]
    assert {finding.statement.split(": ")[1] for finding in grows} == labels(PROTECTING)
    overtaking = next(finding for finding in checked.findings if "at the latest" in finding.statement)
    assert (overtaking.expected, overtaking.computed) == (5, 5)
    values = checked.values.set_index(["panel", "method", "outage"])
    # γ⁴ = 1/16 against four fresh neighbours.
    own = 1 / 65
    expected = 4 * own**2 + 4 * (own**2 + 4 * (16 / 65) ** 2)
    assert values.loc[(aggregation_error.FRESH, "sfg", 4), "error"] == pytest.approx(expected)
    assert values.loc[(aggregation_error.FRESH, "sfg", 4), "ahead"] == ""
    assert values.loc[(aggregation_error.FRESH, "sfg", 5), "ahead"] == "SFG ahead of DFedAvg"
    together = values.loc[aggregation_error.TOGETHER]
    assert (together["ahead"] == "").all()
    assert (together["error"] >= together["bound"] * (1 - ROUNDING)).all()


def test_a_rule_that_does_not_discount_never_gets_ahead():
    options = {"neighbours": 2, "drift": 1, "dispersion": 1, "outages": [0, 5], "mean_on": 1, "mean_off": 1}
    methods = {"same": {"kind": "sfg", "gamma": 1}, "dfedavg": {"kind": "dfedavg"}}
    found = findings(aggregation_error, methods=methods, method="same", baseline="dfedavg", repetitions=2, **options)
    ahead = [finding for statement, finding in found.items() if "has less error" in statement]
    assert [finding.holds for finding in ahead] == [False, False]


TRIANGLE = adjacency(np.array([[0, 1], [0, 2], [1, 2]]), 3)


def test_the_toy_by_hand():
    away = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [1, 0, 1]], dtype=bool)
    got, lags = scalar_toy.play(RULES["sfg"], TRIANGLE, away)
    assert got == pytest.approx(np.array([[1, 0, 0], [2, 0, 0], [2 / 9] * 3, [2 / 9, 11 / 9, 2 / 9]]), abs=1e-6)
    assert got == pytest.approx(lags, abs=1e-6)
    uniform, _ = scalar_toy.play(RULES["dfedavg"], TRIANGLE, away)
    assert uniform[2] == pytest.approx([2 / 3] * 3, abs=1e-6)


def test_findings_on_the_toy():
    outages = {"kind": "markov", "mean_on": 4, "mean_off": 8}
    found = findings(
        scalar_toy, methods=METHODS, method="sfg", baseline="dfedavg", received="aoi_received",
        topology={"kind": "ring"}, availability=outages, clients=10, missed=8, rounds=30, repetitions=4,
    )  # fmt: skip
    better = {statement: finding.holds for statement, finding in found.items() if "in the toy" in statement}
    assert better["Less error than DFedAvg in the toy under outages: SFG"]
    assert not better["Less error than DFedAvg in the toy under outages: Local only"]
    rest = [finding for statement, finding in found.items() if statement not in better]
    assert all(finding.holds for finding in rest)
    assert found["SFG gives it less"].computed == pytest.approx(0.5**8 / (2 + 0.5**8))
    assert found["A rule that discounts only received models can give it more"].computed == pytest.approx(1 / 2)
