"""The SFG study as it is declared: the grid of its main claim, tasks, and factors that stand for several fields."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from outagefl.config import load
from outagefl.errors import ConfigError
from outagefl.runs.analyses import analysis_of
from outagefl.runs.expand import check_declarations, members
from outagefl.runs.plan import make_plan
from outagefl.runs.theory import declared_checks
from outagefl.sources.catalog import sources
from tests.unit.test_config import plan_at

CONFIG = Path(__file__).parents[2] / "config"
AGE_OF_INFORMATION = {"aoi_received", "aoi_inclusive"}


def loaded(scale="paper", **changes):
    """The configuration of this study alone with overrides."""
    main = yaml.safe_load((CONFIG / "config.yaml").read_text())
    return load({**main, "scale": scale, "studies": ["sfg"], "overrides": {"sfg": changes}}, CONFIG)


def sfg(scale="paper", **changes):
    return loaded(scale, **changes)["study_settings"]["sfg"]


def specs(scale="paper", **experiment):
    """Factor levels → spec of sfg_cut, for one experiment of one seed."""
    mine = {"title": "Mine", "methods": ["sfg_cut"], "seeds": 1, **experiment}
    return {tuple(m.factors.values()): m.spec for m in members("sfg", sfg(scale, experiments={"mine": mine}), "mine")}


@pytest.fixture(scope="module")
def plan():
    return plan_at("paper")


def test_the_main_claim_rests_on_120_pairs_of_different_runs(plan):
    experiment = plan.experiments["sfg/outages"]
    runs = {}
    for run, member in experiment.members:
        runs.setdefault((*member.factors.values(), member.seed), {})[member.method] = run
    assert len(runs) == 120
    assert len({(of["sfg_cut"], of["dfedavg"]) for of in runs.values()}) == 120
    assert all(of.keys() >= {"local", "always_on", *AGE_OF_INFORMATION} for of in runs.values())
    settings = Counter((m.spec["dataset"]["kind"], m.spec["topology"]["kind"]) for _, m in experiment.members)
    assert len(settings) == 6
    assert len(set(settings.values())) == 1


def test_close_comparisons_train_nothing(plan):
    runs = {
        name: {run for run, _ in plan.experiments[f"sfg/{name}"].members} for name in ("outages", "close_comparisons")
    }
    assert runs["close_comparisons"] < runs["outages"]


def backwards(content):
    """The same configuration, the options of every component in another order."""
    if isinstance(content, list):
        return [backwards(each) for each in content]
    if not isinstance(content, dict):
        return content
    items = [(key, backwards(value)) for key, value in content.items()]
    return dict(reversed(items) if "kind" in content else items)


def test_the_order_in_which_options_are_written_changes_nothing():
    written, turned = loaded("quick"), backwards(loaded("quick"))
    assert repr(written) != repr(turned)
    one, two = (make_plan(settings, sources(CONFIG / "sources.yaml", {})) for settings in (written, turned))
    assert repr(one) == repr(two)
    assert repr(declared_checks(written)) == repr(declared_checks(turned))


def test_an_experiment_in_words(plan):
    assert (
        plan.experiments["sfg/clients"].in_words()
        == "cifar10; 50, 100, 200, 300 clients; 200 rounds; 10 seeds; 200 runs"
    )


@pytest.mark.parametrize("scale", ["quick", "laptop", "paper"])
def test_every_experiment_is_declared_at_every_scale_beside_local(scale):
    settings = sfg(scale)
    assert settings["experiments"].keys() == sfg()["experiments"].keys()
    check_declarations("sfg", settings)
    for name, declared in settings["experiments"].items():
        assert list(members("sfg", settings, name))
        assert analysis_of("sfg", settings, name)
        assert "local" in declared["methods"]


def test_a_task_is_data_network_and_partition():
    found = specs(factors={"task": ["cifar10", "cifar100", "femnist", "emnist"]})
    kinds = {task: (spec["dataset"]["kind"], spec["partition"]["kind"]) for (task,), spec in found.items()}
    assert kinds == {
        "cifar10": ("cifar10", "dirichlet"),
        "cifar100": ("cifar100", "dirichlet"),
        "femnist": ("femnist", "by_writer"),
        "emnist": ("emnist", "dirichlet"),
    }
    assert specs()[()] == found["cifar10",]


def test_the_length_of_outages_changes_and_the_share_online_does_not():
    found = specs(factors={"rounds_offline": [2, 16, "64"]})
    assert {level: spec["availability"]["mean_off"] for (level,), spec in found.items()} == {"2": 2, "16": 16, "64": 64}
    assert {spec["availability"]["mean_on"] / spec["availability"]["mean_off"] for spec in found.values()} == {0.5}
    assert found["16",] == specs()[()]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factors": {"tsak": ["cifar10"]}}, "mine.factors: unknown factor 'tsak'; did you mean 'task'"),
        ({"factors": {"task": ["cifar11"]}}, "task: unknown preset 'cifar11'; did you mean 'cifar10"),
        ({"factors": {"rounds_offline": [3]}}, "rounds_offline: unknown preset '3'"),
        (
            {"setting": {"availability": "bernoulli"}, "factors": {"rounds_offline": [4, 16]}},
            "factors.rounds_offline: '16' changes nothing here: no run has any of availability.mean_on",
        ),
        (
            {"setting": {"partition": {"kind": "by_writer", "min_images": 0}}},
            "min_images: 0 is less than the minimum of 1",
        ),
        ({"setting": {"partition": {"kind": "by_writer"}}}, "partition 'by_writer' needs the option 'min_images'"),
    ],
)
def test_a_mistake_in_an_experiment_is_told(changes, message):
    with pytest.raises(ConfigError) as caught:
        specs(**changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("analysis", "message"),
    [
        (
            {"levels": ["rule.gamma", "rule.margn"]},
            "analysis.levels: unknown factor 'rule.margn'; did you mean 'rule.margin'",
        ),
        ({"levels": ["rule.gamma"]}, "levels: ['rule.gamma'] is too short (expected: a list of two factors"),
        ({"levels": ["topology", "rule.margin"]}, "analysis.levels: topology: 'ring' is not a number"),
        ({"figures": ["gain_by_level"]}, "figure 'gain_by_level' needs the option 'level'"),
    ],
)
def test_a_mistake_in_an_analysis_is_told(analysis, message):
    experiment = {"analysis": analysis, "factors": {"topology": ["ring"]}}
    with pytest.raises(ConfigError) as caught:
        analysis_of("sfg", sfg(experiments={"gamma_margin": experiment}), "gamma_margin")
    assert message in str(caught.value)
