"""Outages that go with the graph in the configuration: what is planned, shared and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from outagefl.errors import ConfigError
from outagefl.inputs import availabilities
from outagefl.runs.plan import make_input
from tests.unit.test_config import assert_one_line_with, only, plan_with, setting
from tests.unit.test_probability_plan import made

FLUID = {"kind": "fluid", "count": 4}
COUPLED = {"kind": "coupled", "of": "smartphone_synthetic", "coupling": 1, "communities": FLUID}


def with_factors(seeds=1, **factors):
    """The SFG study with one experiment."""
    topology = {"topology": ["small_world"]} if "topology" not in factors else {}
    experiment = {"factors": {**factors, **topology}, "methods": ["dfedavg", "sfg"], "seeds": seeds}
    return only(outages=experiment)


def test_runs_of_one_seed_share_what_is_coupled():
    levels = {"availability.coupling": [0, 0.5, 1]}
    plan = plan_with(with_factors(2, availability=["coupled_flash"], **levels))
    for seed in (0, 1):
        runs = [run for run in plan.runs.values() if run.spec["seed"] == seed]
        placed = [plan.inputs[path] for path in {run.inputs["availability"] for run in runs}]
        assert sorted(each.spec["availability"]["coupling"] for each in placed) == [0, 0.5, 1]
        [(of, communities)] = {(each.needs["of"], each.needs["communities"]) for each in placed}
        assert plan.inputs[of].spec["availability"]["kind"] == "trace"
        assert plan.inputs[plan.inputs[of].needs["trace"]].source == "flash_matrix"
        assert plan.inputs[communities].needs == {"topology": runs[0].inputs["topology"]}
    assert all("-digits-coupled-trace-flash_matrix-fluid-s" in path for path in plan.runs)
    assert all(path.startswith("inputs/communities/fluid-5-s") for path in made(plan, "communities"))


def test_a_regional_outage_has_the_communities_of_its_own_graph():
    levels = {"availability.correlation": [0, 1], "topology": ["hub", "ring"]}
    plan = plan_with(with_factors(availability=["regional"], **levels))
    assert len(made(plan, "availability")) == 4
    assert len(made(plan, "communities")) == 2  # one a graph, whatever the correlation
    for run in plan.runs.values():
        communities = plan.inputs[run.inputs["availability"]].needs["communities"]
        assert plan.inputs[communities].needs["topology"] == run.inputs["topology"]


def test_the_availability_that_is_coupled_can_be_a_factor():
    plan = plan_with(with_factors(availability=[COUPLED], **{"availability.of": ["markov", "smartphone_synthetic"]}))
    inner = [each.spec["availability"]["kind"] for each in made(plan, "availability").values() if not each.needs]
    assert sorted(inner) == ["markov", "smartphone"]


def test_the_planned_inputs_can_be_made_in_the_planned_order(tmp_path):
    plan = plan_with(with_factors(availability=[COUPLED], **{"availability.coupling": [0, 1]}))
    for path, each in plan.inputs.items():  # what another is made from comes first
        if each.what in ("topology", "communities", "availability"):
            needs = {name: tmp_path / need for name, need in each.needs.items()}
            Path(tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            make_input(each.what, each.spec, needs, tmp_path / path)
    of, apart, together = (availabilities.load(tmp_path / path) for path in made(plan, "availability"))
    assert (of.sum(axis=1) == apart.sum(axis=1)).all()
    assert (of.sum(axis=1) == together.sum(axis=1)).all()
    assert not np.array_equal(apart, together)


@pytest.mark.parametrize(
    ("availability", "parts"),
    [
        ({**COUPLED, "of": "marcov"}, ["availability.of", "unknown availability 'marcov'", "did you mean 'markov'"]),
        ({**COUPLED, "of": 5}, ["availability.of", "5", "a name, or a mapping with a kind"]),
        ({**COUPLED, "of": COUPLED}, ["availability.of.kind", "coupled", "another kind"]),
        ({**COUPLED, "of": {"kind": "markov", "mean_on": 8}}, ["availability.of", "needs the option 'mean_off'"]),
        (
            {**COUPLED, "of": {"kind": "bernoulli", "probability": 2}},
            ["availability.of.probability", "2", "from 0 to 1"],
        ),
        ({**COUPLED, "coupling": 1.5}, ["availability.coupling", "1.5", "a number from 0 to 1"]),
        ({**COUPLED, "communities": "six"}, ["availability.communities", "unknown communities 'six'", "five"]),
        ({**COUPLED, "communities": {**FLUID, "count": 0}}, ["communities.count", "0", "1 or more"]),
        ({**COUPLED, "communities": 4}, ["availability.communities", "4", "a name, or a mapping with a kind"]),
        ({"kind": "regional", "communities": FLUID}, ["regional", "needs the option 'mean_on'"]),
    ],
)
def test_a_mistake_about_regions_is_one_clear_line(availability, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with(with_factors(availability=[availability]))
    assert_one_line_with(str(caught.value), parts)


def test_more_correlation_than_there_is_is_refused():
    with pytest.raises(ConfigError, match=r"availability\.correlation: 1\.5 .*a number from 0 to 1"):
        plan_with(with_factors(availability=["regional"], **{"availability.correlation": [0, 1.5]}))


def test_an_availability_cannot_be_made_from_itself():
    named = {"availability": {"mine": {**COUPLED, "of": "mine"}}}
    with pytest.raises(ConfigError, match=r"named\.availability\.mine\.of: unknown availability 'mine'"):
        plan_with({"named": named})


def test_clients_of_a_server_form_no_communities():
    regional = {"kind": "regional", "mean_on": 8, "mean_off": 16, "correlation": 0.5, "communities": FLUID}
    with pytest.raises(ConfigError, match=r"availability\.communities: .*the clients of this engine form no graph"):
        plan_with(studies=["fedswe"], overrides={"fedswe": setting(availability=regional)})


@pytest.mark.parametrize("name", ["smartphone_flash", "flash_events", "fedscale", "extrasensory"])
def test_every_recorded_trace_can_be_chosen_by_name(name, tmp_path):
    (tmp_path / "recorded").write_text("")
    kind = {"smartphone_flash": "flash_matrix"}.get(name, name)
    plan = plan_with(with_factors(availability=[name]), local={kind: str(tmp_path / "recorded")})
    assert {each.source for each in made(plan, "trace").values()} == {kind}
    assert all(f"-digits-trace-{kind}-s" in path for path in plan.runs)
