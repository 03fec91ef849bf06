"""The DFL-AA study as it is declared: what the released code does otherwise, scales, horizons, sizes of messages."""

from pathlib import Path

import pytest
import yaml

from outagefl.config import load
from outagefl.runs.expand import check_declarations, members

CONFIG = Path(__file__).parents[2] / "config"
DIFFERENCES = {  # dotted key → what the paper says, what the released code does
    "training.unit": ("epochs", "batches"),
    "training.nesterov": (False, True),
    "training.clip_norm": (None, 1),
    "rule.update_on": ("reception", "aggregation"),
    "topology.cycle": (False, True),
    "fill_at": ("aggregation", "reception"),
    "evaluation.clock": ("seconds", "events"),
}


def dflaa(scale="paper", **changes):
    """The study's settings with overrides."""
    main = yaml.safe_load((CONFIG / "config.yaml").read_text())
    config = {**main, "scale": scale, "studies": ["dflaa"], "overrides": {"dflaa": changes}}
    return load(config, CONFIG)["study_settings"]["dflaa"]


def specs(methods=("dflaa",), **experiment):
    """Factor levels and method → spec, for one experiment of one seed."""
    settings = dflaa(seeds=1, experiments={"mine": {"title": "Mine", "methods": list(methods), **experiment}})
    return {(*m.factors.values(), m.method): m.spec for m in members("dflaa", settings, "mine")}


def flat(spec, prefix=""):
    """A spec by dotted keys."""
    found = {}
    for key, value in spec.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def changed(one, other):
    """Dotted key → its value in either spec, where they differ."""
    one, other = flat(one), flat(other)
    assert one.keys() == other.keys()
    return {key: (one[key], other[key]) for key in one if one[key] != other[key]}


def test_the_released_code_differs_in_each_point_of_the_audit_and_in_nothing_else():
    found = specs(setting={"task": "cifar10"}, factors={"protocol": ["paper", "released"]})
    assert changed(found["paper", "dflaa"], found["released", "dflaa"]) == DIFFERENCES


@pytest.mark.parametrize(
    ("method", "setting", "expected"),
    [
        ("soft_dsgd", {}, {"rule.over": ("in_neighbours", "out_neighbours")}),
        (
            "fedavg_drop",
            {},
            {"rule.over": ("in_neighbours", "out_neighbours"), "rule.if_lossy": ("complete", "none")},
        ),
        ("swift", {"topology": "ring"}, {"topology.both_ways": (True, False)}),
    ],
)
def test_the_released_baselines_and_ring_differ(method, setting, expected):
    found = specs([method], setting=setting, factors={"protocol": ["paper", "released"]})
    common = {key: DIFFERENCES[key] for key in ("training.unit", "fill_at", "evaluation.clock")}
    common |= {} if setting else {"topology.cycle": DIFFERENCES["topology.cycle"]}
    assert changed(found["paper", method], found["released", method]) == common | expected


def test_each_difference_can_be_switched_alone_and_together_they_are_the_released_code():
    protocols = dflaa()["presets"]["protocol"]
    single = {name: keys for name, keys in protocols.items() if name.startswith("only_") and name != "only_parameters"}
    assert {key: value for keys in single.values() for key, value in keys.items()} == protocols["released"]
    assert sum(map(len, single.values())) == len(protocols["released"])


def test_the_horizon_grows_with_the_number_of_nodes():
    tasks = ["emnist", "emnist_40", "emnist_80", "cifar10", "cifar10_40", "cifar10_80"]
    found = specs(factors={"task": tasks})
    horizons = [(found[task, "dflaa"]["clients"], found[task, "dflaa"]["horizon"]) for task in tasks]
    assert horizons == [(20, 1000), (40, 2000), (80, 4000), (20, 4000), (40, 8000), (80, 15000)]


@pytest.mark.parametrize("scale", ["quick", "laptop", "paper"])
def test_every_experiment_is_declared_at_every_scale(scale):
    settings = dflaa(scale)
    check_declarations("dflaa", settings)
    for experiment in settings["experiments"]:
        assert list(members("dflaa", settings, experiment))
