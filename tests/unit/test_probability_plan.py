"""Availability made from probabilities in the configuration: what is planned, shared and refused."""

from __future__ import annotations

import pytest

from outagefl.errors import ConfigError
from outagefl.runs.plan import to_describe
from tests.unit.test_config import assert_one_line_with, only, plan_with, setting

LABEL_MIX = {"kind": "label_mix", "labels": "drawn"}
SINE = {"kind": "sine", "gamma": 0.3, "period": 20, "base": LABEL_MIX}
STAIRCASE = {"kind": "staircase", "period": 20, "base": LABEL_MIX}


def with_probability(*probabilities):
    """The SFG study with one experiment, whose availabilities are drawn from these probabilities."""
    levels = [{"kind": "independent", "probability": probability} for probability in probabilities]
    experiment = {"factors": {"availability": levels, "topology": ["ring"]}, "methods": ["dfedavg", "sfg"], "seeds": 2}
    return only(outages=experiment)


def made(plan, what):
    return {path: each for path, each in plan.inputs.items() if each.what == what}


def test_availability_is_made_from_probabilities_and_they_from_the_partition():
    plan = plan_with(with_probability(SINE))
    probabilities, partitions = made(plan, "probability"), made(plan, "partition")
    assert len(probabilities) == len(partitions) == 2  # one a seed
    assert {need for each in probabilities.values() for need in each.needs.values()} == partitions.keys()
    assert {
        need for each in made(plan, "availability").values() for need in each.needs.values()
    } == probabilities.keys()
    for path, run in plan.runs.items():
        assert "-digits-independent-sine-s" in path
        assert probabilities[run.inputs["probability"]].needs == {"partition": run.inputs["partition"]}
        assert plan.inputs[run.inputs["availability"]].needs == {"probability": run.inputs["probability"]}
    assert all(path.startswith("inputs/probability/sine-label_mix-0.3-20-s") for path in probabilities)


def test_a_common_probability_needs_no_partition():
    plan = plan_with(with_probability({**SINE, "base": {"kind": "common", "probability": 0.1}}))
    assert not any(each.needs for each in made(plan, "probability").values())


def test_everything_about_probabilities_is_in_their_address():
    def addresses(*probabilities, **changes):
        return made(plan_with(with_probability(*probabilities) | changes), "probability").keys()

    base = addresses(SINE)
    assert base == addresses(SINE)
    realised = {"kind": "label_mix", "labels": "realised"}
    for other in ({**SINE, "gamma": 0.2}, {**SINE, "base": realised}, STAIRCASE):
        assert not base & addresses(other)
    assert not base & addresses(SINE, **setting(rounds=77))
    assert len(addresses(SINE, STAIRCASE)) == 4


def test_the_code_of_its_base_is_in_the_address_of_probabilities(monkeypatch):
    def address(digest):
        monkeypatch.setattr("outagefl.runs.plan._code", lambda *modules: {name: digest(name) for name in modules})
        return made(plan_with(with_probability(SINE)), "probability").keys()

    assert not address(str) & address(lambda name: name + ("!" if "base_probability.label_mix" in name else ""))


def test_probabilities_are_described_once_a_setting_for_the_lowest_seed():
    plan = plan_with(with_probability(SINE, STAIRCASE))
    described = to_describe(plan)["probability"]
    assert sorted(name.split("-")[0] for name in described) == ["sine", "staircase"]
    assert {plan.inputs[path].spec["seed"] for path in described.values()} == {0}


def test_probabilities_and_bases_have_short_names_too():
    named = {"probability": {"gentle": {**SINE, "gamma": 0.1, "base": "labels"}}, "base": {"labels": LABEL_MIX}}
    plan = plan_with(with_probability("gentle") | {"named": named})
    [spec] = [each.spec["probability"] for each in made(plan, "probability").values() if each.spec["seed"] == 0]
    assert spec == {**SINE, "gamma": 0.1}


def test_a_number_stays_a_number_where_no_component_is_expected():
    bernoulli = {"kind": "bernoulli", "probability": 0.5}
    plan = plan_with(with_probability() | {"experiments": {"outages": {"factors": {"availability": [bernoulli]}}}})
    assert not made(plan, "probability")


@pytest.mark.parametrize(
    ("probability", "parts"),
    [
        ("sin", ["availability.probability", "unknown probability 'sin'", "did you mean 'sine'"]),
        (0.5, ["availability.probability", "0.5", "a name, or a mapping with a kind"]),
        ("sine", ["availability.probability", "sine", "needs the option"]),
        ({**SINE, "gama": 1}, ["availability.probability", "'gama'", "did you mean 'gamma'"]),
        ({**SINE, "gamma": 0.6}, ["availability.probability.gamma", "0.6", "0 to 0.5"]),
        ({**SINE, "period": 1}, ["availability.probability.period", "1", "2 or more"]),
        ({**SINE, "base": 0.5}, ["availability.probability.base", "0.5", "a name, or a mapping with a kind"]),
        ({**SINE, "base": {"kind": "label_mx"}}, ["availability.probability.base", "did you mean 'label_mix'"]),
        ({**SINE, "base": {**LABEL_MIX, "labels": "real"}}, ["probability.base.labels", "did you mean 'realised'"]),
        ({**SINE, "base": {"kind": "common", "probability": 2}}, ["probability.base.probability", "2", "from 0 to 1"]),
    ],
)
def test_a_mistake_about_probabilities_is_one_clear_line(probability, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with(with_probability(probability))
    assert_one_line_with(str(caught.value), parts)


def test_bernoulli_takes_a_number_only():
    with pytest.raises(ConfigError, match=r"availability\.probability: .* is not of type 'number'"):
        plan_with(setting(availability={"kind": "bernoulli", "probability": SINE}))


def test_gossip_needs_a_topology():
    with pytest.raises(ConfigError, match="'topology' is a required property"):
        plan_with(setting(topology=None))
