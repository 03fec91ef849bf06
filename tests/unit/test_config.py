"""Mistakes in the configuration are told in one line that names the place, the value and what was expected."""

from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from outagefl.config import load, merge
from outagefl.errors import ConfigError
from outagefl.runs.plan import make_plan
from outagefl.sources.catalog import sources

CONFIG = Path(__file__).parents[2] / "config"


def main_config(**changes):
    return {**yaml.safe_load((CONFIG / "config.yaml").read_text()), **changes}


def plan_with(sfg=None, **changes):
    """Plan the real configuration with overrides of the SFG study and of main keys."""
    config = main_config(overrides={"sfg": sfg or {}}, **changes)
    return make_plan(load(config, CONFIG), sources(CONFIG / "sources.yaml", config["local"]))


def setting(**values):
    return {"setting": values}


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        ({"sfg": {"setings": {}}}, ["overrides", "setings", "did you mean 'setting'"]),
        ({"sfg": setting(client=3)}, ["sfg", "setting", "'client'", "did you mean 'clients'"]),
        ({"sfg": setting(partition={"kind": "dirichlet", "alpha": 0, "test_images": 5})}, ["alpha", "0", "above 0"]),
        ({"sfg": setting(partition={"kind": "dirichlet", "alpha": -1, "test_images": 5})}, ["alpha", "-1", "above 0"]),
        (
            {"sfg": setting(partition={"kind": "dirichlet", "alfa": 1, "test_images": 5})},
            ["alfa", "did you mean 'alpha'"],
        ),
        ({"sfg": setting(partition={"kind": "dirichlet", "alpha": 1})}, ["needs the option", "test_images"]),
        ({"sfg": setting(partition={"kind": "dirichlett"})}, ["dirichlett", "did you mean 'dirichlet'"]),
        ({"sfg": setting(topology="regular5")}, ["topology", "regular5", "did you mean 'regular4'"]),
        ({"sfg": setting(availability="marcov")}, ["availability", "marcov", "did you mean 'markov'"]),
        ({"sfg": setting(dataset="cifar11")}, ["dataset", "cifar11", "cifar10"]),
        ({"sfg": setting(training={"steps": 0})}, ["training.steps", "0", "1 or more"]),
        ({"sfg": setting(training={"step": 1})}, ["training", "'step'", "did you mean 'steps'"]),
        ({"sfg": {"methods": {"sfg": {"rule": {"kind": "sgf", "gamma": 0.5}}}}}, ["sgf", "did you mean 'sfg'"]),
        ({"sfg": {"methods": {"sfg": {"rule": {"kind": "sfg", "gamma": 1.5}}}}}, ["rule.gamma", "1.5", "at most 1"]),
        ({"sfg": {"seeds": 0}}, ["seeds", "0", "number of seeds"]),
        ({"sfg": {"engine": "gosip"}}, ["engine", "gosip", "did you mean 'gossip'"]),
        (
            {"sfg": {"experiments": {"outages": {"methods": ["sfg", "dfedavgg"]}}}},
            ["outages", "dfedavgg", "did you mean 'dfedavg'"],
        ),
        ({"sfg": {"experiments": {"outages": {"methods": ["sfg", "local"]}}}}, ["outages", "baseline", "dfedavg"]),
        (
            {"sfg": {"experiments": {"outages": {"factors": {"partition.alhpa": [1]}}}}},
            ["factors", "partition.alhpa", "did you mean 'partition.alpha'"],
        ),
        ({"sfg": {"experiments": {"outages": {"factors": {"topology": []}}}}}, ["factors.topology", "non-empty"]),
    ],
)
def test_a_mistake_in_a_study_is_one_clear_line(overrides, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with(overrides["sfg"])
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"scale": "laptopp"}, ["laptopp", "did you mean 'laptop'"]),
        ({"scal": "laptop"}, ["'scal'", "did you mean 'scale'"]),
        ({"studies": ["sgf"]}, ["sgf", "did you mean 'sfg'"]),
        ({"studies": []}, ["studies", "list of names"]),
        ({"device": "gpu"}, ["device", "'gpu'", "cuda"]),
        ({"local": {"cifar": "/nowhere"}}, ["local", "'cifar'", "did you mean 'cifar10'"]),
    ],
)
def test_a_mistake_in_the_main_configuration_is_one_clear_line(changes, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with(**changes)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_bad_yaml_names_the_file(tmp_path):
    (tmp_path / "scales").mkdir()
    (tmp_path / "scales" / "quick.yaml").write_text("a: [1\n")
    with pytest.raises(ConfigError, match=r"quick\.yaml: not valid YAML"):
        load(main_config(), tmp_path)


def test_merge_replaces_components_and_lists_merges_the_rest_and_removes_nulls():
    base = {"a": {"x": 1, "y": 2}, "c": {"kind": "markov", "mean_on": 8}, "list": [1, 2], "gone": 1}
    overlay = {"a": {"y": 3}, "c": {"kind": "always"}, "list": [3], "gone": None}
    kept = deepcopy(base)
    assert merge(base, overlay) == {"a": {"x": 1, "y": 3}, "c": {"kind": "always"}, "list": [3]}
    assert base == kept


@pytest.mark.parametrize("scale", sorted(p.stem for p in (CONFIG / "scales").glob("*.yaml")))
def test_every_scale_can_be_planned(scale):
    assert plan_with(scale=scale).runs


def test_a_mistake_in_what_no_experiment_uses_is_told_too():
    with pytest.raises(ConfigError, match=r"studies\.sfg\.named\.topology\.spare: unknown option .* 'degre'"):
        plan_with({"named": {"topology": {"spare": {"kind": "random_regular", "degre": 3}}}})
    with pytest.raises(ConfigError, match=r"studies\.sfg\.methods\.spare: rule: unknown gossip rule 'sgf'"):
        plan_with({"methods": {"spare": {"rule": {"kind": "sgf"}}}})


def test_values_from_the_command_line_are_read_as_yaml():
    resolved = load(main_config(offline="true", studies="[sfg]"), CONFIG)
    assert resolved["offline"] is True
    assert resolved["studies"] == ["sfg"]
