"""Presets, and factors that are single options: what they change in which runs."""

from pathlib import Path

import pytest
import yaml

from outagefl.config import load
from outagefl.engines.schedule import due
from outagefl.errors import ConfigError
from outagefl.runs.expand import check_declarations, members
from outagefl.runs.plan import make_plan
from outagefl.sources.catalog import sources

CONFIG = Path(__file__).parents[2] / "config"


def fedswe(scale="paper", **changes):
    """The FedSWE study's settings with overrides."""
    main = yaml.safe_load((CONFIG / "config.yaml").read_text())
    config = {**main, "scale": scale, "studies": ["fedswe"], "overrides": {"fedswe": changes}}
    return load(config, CONFIG)["study_settings"]["fedswe"]


def specs(methods=("fedswe_km", "fedavg_active"), seeds=1, **experiment):
    """Factor levels and method → spec, for one experiment."""
    settings = fedswe(seeds=seeds, experiments={"mine": {"title": "Mine", "methods": list(methods), **experiment}})
    check_declarations("fedswe", settings)
    return {(*m.factors.values(), m.method): m.spec for m in members("fedswe", settings, "mine")}


def test_a_factor_that_is_a_rules_option_leaves_other_rules_alone():
    found = specs(factors={"rule.k": [0, 7]})
    assert [found[k, "fedswe_km"]["rule"]["k"] for k in ("0", "7")] == [0, 7]
    assert found["0", "fedavg_active"] == found["7", "fedavg_active"]
    with pytest.raises(ConfigError, match=r"mine\.factors: unknown factor 'rule\.kk'; did you mean 'rule\.k'"):
        specs(factors={"rule.kk": [0]})
    with pytest.raises(ConfigError, match=r"rule\.k"):
        specs(methods=["fedavg_active"], factors={"rule.k": [0]})


def test_a_preset_stands_for_several_keys():
    found = specs(factors={"task": ["svhn", "cinic10"]})
    svhn, cinic10 = (found[task, "fedavg_active"] for task in ("svhn", "cinic10"))
    assert (svhn["dataset"], svhn["training"]["flip"]) == ({"kind": "svhn"}, False)
    assert (cinic10["model"]["dropout"], cinic10["training"]["flip"]) == (0.2, True)
    assert "task" not in svhn
    assert "protocol" not in svhn


def test_the_released_protocol_changes_each_of_its_points_and_nothing_else():
    found = specs(factors={"protocol": ["paper", "released"]})
    paper, released = (found[protocol, "fedswe_km"] for protocol in ("paper", "released"))
    base = ("availability", "probability", "base")
    changed = {
        "clip_norm": (paper["training"].pop("clip_norm"), released["training"].pop("clip_norm")),
        "order": (paper["training"].pop("order"), released["training"].pop("order")),
        "augmentation": (paper["training"].pop("augmentation"), released["training"].pop("augmentation")),
        "innovation_clip": (paper["rule"].pop("innovation_clip"), released["rule"].pop("innovation_clip")),
        "evaluated": (paper.pop("evaluated"), released.pop("evaluated")),
        "head_init": (paper.pop("head_init"), released.pop("head_init")),
        "labels": tuple(spec[base[0]][base[1]][base[2]].pop("labels") for spec in (paper, released)),
    }
    assert changed == {
        "clip_norm": (0.5, None),
        "order": ("fresh", "persistent"),
        "augmentation": ("image", "batch"),
        "innovation_clip": (None, 0.5),
        "evaluated": ("global", "client_mean"),
        "head_init": ("kaiming", "pytorch"),
        "labels": ("drawn", "realised"),
    }
    assert paper == released


def test_single_options_win_over_presets_and_methods():
    factors = {"protocol": ["released"], "training.clip_norm": [0.1], "training.learning_rate": [0.3]}
    [spec] = specs(methods=["fedavg_active"], factors=factors).values()
    assert (spec["training"]["clip_norm"], spec["training"]["learning_rate"]) == (0.1, 0.3)
    assert spec["evaluated"] == "client_mean"
    [spec] = specs(methods=["fedavg_active"], factors={"availability.probability": ["stationary"]}).values()
    assert spec["availability"]["probability"]["kind"] == "stationary"
    assert spec["availability"]["probability"]["base"]["kind"] == "label_mix"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"setting": {"protocol": "releasd"}}, "protocol: unknown preset 'releasd'; did you mean 'released'"),
        (
            {"presets": {"protocol": {"mine": {"training.clip_nrm": 1}}}},
            "presets.protocol.mine: unknown key 'training.clip_nrm'; did you mean 'training.clip_norm'",
        ),
        ({"presets": {"task": {"mine": {"dataset": "svhnn", "model": "cnn_svhn"}}}}, "'svhnn'; did you mean 'svhn'"),
        (
            {"presets": {"task": {"mine": {"dataset": "svhn", "model": "cnn_svhn", "rounds": 0}}}},
            "task.mine: rounds: 0 is less than",
        ),
        ({"setting": {"order": "train_then_mix"}}, "unknown value 'order'"),
        ({"setting": {"evaluation": {"last_every": None}}}, "'last_every' is a required property"),
    ],
)
def test_a_mistake_in_a_preset_or_for_this_engine_is_told(changes, message):
    with pytest.raises(ConfigError) as caught:
        check_declarations("fedswe", fedswe(**changes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scale", ["quick", "laptop", "paper"])
def test_every_experiment_is_declared_at_every_scale(scale):
    settings = fedswe(scale)
    assert settings["experiments"].keys() >= fedswe("paper")["experiments"].keys()
    check_declarations("fedswe", settings)
    for experiment in settings["experiments"]:
        assert list(members("fedswe", settings, experiment))


@pytest.mark.parametrize("experiment", ["periodic", "interpolation"])
@pytest.mark.parametrize("scale", ["quick", "laptop", "paper"])
def test_both_groups_of_the_periodic_dynamics_count_alike_in_a_score(experiment, scale):
    settings = fedswe(scale)
    tail = settings["experiments"][experiment]["analysis"]["tail"]
    for member in members("fedswe", settings, experiment):
        evaluation = {key: value for key, value in member.spec["evaluation"].items() if key != "train_images"}
        rounds, probability = member.spec["rounds"], member.spec["availability"]["probability"]
        looked_at = [n for n in range(1, rounds + 1) if due(n, rounds, **evaluation) and n > (1 - tail) * rounds + 1e-9]
        groups = [(number - 1) // probability["window"] % 2 for number in looked_at]
        assert groups
        assert groups.count(0) == groups.count(1)


def test_known_probabilities_need_an_availability_that_has_them():
    with pytest.raises(ConfigError, match=r"availability\.kind: .*independent, whose probabilities are known"):
        specs(methods=["fedavg_known"], factors={"availability": [{"kind": "bernoulli", "probability": 0.5}]})
    plain = {"kind": "bernoulli", "probability": 0.5}
    [spec] = specs(methods=["fedavg_active"], setting={"availability": plain}).values()
    assert spec["availability"] == plain


def test_a_skipped_experiment_is_checked_but_not_planned():
    main = yaml.safe_load((CONFIG / "config.yaml").read_text())
    catalog = sources(CONFIG / "sources.yaml", {})

    def plan(**protocols):
        overrides = {"fedswe": {"experiments": {"protocols": protocols}}}
        return make_plan(load({**main, "studies": ["fedswe"], "overrides": overrides}, CONFIG), catalog)

    whole, part = plan(), plan(skip=True)
    assert whole.experiments.keys() - part.experiments.keys() == {"fedswe/protocols"}
    assert part.runs.keys() < whole.runs.keys()
    with pytest.raises(ConfigError, match="fedswe_kmm"):
        plan(skip=True, methods=["fedavg_active", "fedswe_kmm"])
