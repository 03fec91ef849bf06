"""Mistakes in the configuration are told in one line that names the place, the value and what was expected."""

import shutil
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
import yaml

from outagefl.config import check, given, load, merge, typed
from outagefl.errors import ConfigError, DataError, OutageflError
from outagefl.runs.analyses import baselines, shown_options
from outagefl.runs.jobs import require_sources
from outagefl.runs.plan import make_plan, to_describe
from outagefl.sources.catalog import sources

CONFIG = Path(__file__).parents[2] / "config"


def main_config(**changes):
    return {**yaml.safe_load((CONFIG / "config.yaml").read_text()), **changes}


def plan_of(config):
    return make_plan(load(config, CONFIG), sources(CONFIG / "sources.yaml", config["local"]))


def plan_with(sfg=None, **changes):
    """Plan the SFG study of the real configuration with overrides of it and of main keys."""
    return plan_of(main_config(**{"studies": ["sfg"], "overrides": {"sfg": sfg or {}}, **changes}))


@cache
def plan_at(scale):
    """The plan of the SFG study as it is at a scale, made once for all tests that only look at it."""
    return plan_with(scale=scale)


def only(**experiments):
    """The SFG study with these of its experiments, changed like this, and no others."""
    declared = yaml.safe_load((CONFIG / "studies" / "sfg.yaml").read_text())["experiments"]
    return {"experiments": {**dict.fromkeys(declared), **experiments}}


def assert_one_line_with(message, parts):
    assert "\n" not in message
    for part in parts:
        assert part in message


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
        ({"sfg": setting(training={"schedule": "inverse"})}, ["training.schedule", "did you mean 'inverse_sqrt'"]),
        ({"sfg": setting(training={"clip_norm": 0})}, ["training.clip_norm", "0", "above 0, or null"]),
        ({"sfg": setting(training={"unit": "epochs", "order": "fresh"})}, ["training.order", "'fresh'", "persistent"]),
        ({"sfg": setting(training={"optimiser": "adam", "momentum": 0.9})}, ["training.momentum", "adam takes no"]),
        ({"sfg": setting(training={"nesterov": True, "momentum": 0})}, ["training.momentum", "with nesterov"]),
        ({"sfg": setting(returning="only_mix")}, ["sfg", "returning", "did you mean 'only_mixes'"]),
        ({"sfg": setting(evaluated="global")}, ["sfg.setting", "'evaluated'", "valid: availability"]),
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
    assert_one_line_with(str(caught.value), parts)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"scale": "laptopp"}, ["laptopp", "did you mean 'laptop'"]),
        ({"scal": "laptop"}, ["'scal'", "did you mean 'scale'"]),
        ({"studies": ["sgf"]}, ["sgf", "did you mean 'sfg'"]),
        ({"studies": []}, ["studies", "list of names"]),
        ({"device": "gpu"}, ["device", "'gpu'", "cuda"]),
        ({"describe": ["cifar11"]}, ["describe", "'cifar11'", "did you mean 'cifar10'"]),
        ({"describe": ["flash_matirx"]}, ["describe", "did you mean 'flash_matrix'"]),
        ({"describe": "cifar10"}, ["describe", "list of kinds"]),
        ({"local": {"cifar": "/nowhere"}}, ["local", "'cifar'", "did you mean 'cifar10'"]),
    ],
)
def test_a_mistake_in_the_main_configuration_is_one_clear_line(changes, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with(**changes)
    assert_one_line_with(str(caught.value), parts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1\nb: 2\n", "in line 2"),
        (b"a: 1\nb: {c: 1, d: 2,\n  c: 3}\n", "the key 'c' stands twice, in line 2, column 5 and in line 3, column 3"),
        (b"a:\n  3: 1\n", "the key '3' is no text to YAML: put it into quotes, .* in line 2, column 3"),
        (b"a: 1\non: 2\n", "the key 'on' is no text"),
        ("a: é\n".encode("latin-1"), "invalid continuation byte in position 3"),
    ],
)
def test_bad_yaml_names_file_and_line(tmp_path, content, message):
    (tmp_path / "scales").mkdir()
    (tmp_path / "scales" / "quick.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=rf"quick\.yaml: not valid YAML: .*{message}") as caught:
        load(main_config(), tmp_path)
    assert str(caught.value).count("quick.yaml") == 1
    assert "\n" not in str(caught.value)


def test_a_list_can_be_added_to():
    base = {"methods": ["a", "b"], "analysis": {"figures": ["x"]}}
    added = merge(base, {"methods+": ["b", "c"], "analysis": {"figures+": ["y"]}})
    assert added == {"methods": ["a", "b", "c"], "analysis": {"figures": ["x", "y"]}}
    assert base == {"methods": ["a", "b"], "analysis": {"figures": ["x"]}}
    more = plan_with({"experiments": {"outages": {"methods+": ["sfg_validated"], "factors": {"topology+": ["ring"]}}}})
    members = [member for _, member in more.experiments["sfg/outages"].members]
    assert {member.method for member in members} > {"dfedavg", "sfg_validated"}
    assert {member.spec["topology"]["kind"] for member in members} > {"ring"}


@pytest.mark.parametrize(
    ("added", "parts"),
    [
        ({"methods+": "sfg"}, ["config: overrides: sfg.experiments.outages.methods+", "'sfg'", "no list"]),
        (
            {"analysis": {"figures+": ["self_weight"]}},
            ["sfg.experiments.outages.analysis.figures+", "no list 'figures'"],
        ),
        ({"factors": {"clients+": [10]}}, ["factors.clients+", "no list 'clients' here to add to"]),
        ({"seeds+": [77]}, ["outages.seeds+", "no list 'seeds'"]),
        ({"methods+": ["sfg"], "methods": ["dfedavg"]}, ["'methods' and 'methods+' stand beside each other"]),
        ({"factors": {1: [10]}}, ["outages.factors.1", "the key 1 is no text"]),
        ({"factors": {True: [10]}}, ["outages.factors.True", "the key True is no text"]),
        ({"methods+": ["sgf"]}, ["'sgf'", "did you mean 'sfg'"]),
        ({"method+": ["sfg"]}, ["'method'", "did you mean 'methods'"]),
    ],
)
def test_a_mistaken_addition_is_one_clear_line(added, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with({"experiments": {"outages": added}})
    assert_one_line_with(str(caught.value), parts)


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        (
            {"experiments": {"outage": {"methods+": ["sfg"]}}},
            ["sfg.experiments.outage: ", "no list that 'methods+' could add to", "did you mean 'outages'?"],
        ),
        ({"experiments": {"outage": {"factors": {"task+": ["digits"]}}}}, ["'task+'", "did you mean 'outages'?"]),
        (
            {"experiments": {"outages": {"setting": {"model": {"kind": "cnn", "channels+": [4]}}}}},
            ["sfg.experiments.outages.setting", "no list that 'channels+' could add to"],
        ),
    ],
)
def test_an_addition_to_what_is_not_there_is_one_clear_line(overrides, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with(overrides)
    assert_one_line_with(str(caught.value), ["config: overrides: ", *parts])


def test_merge_replaces_components_and_lists_merges_the_rest_and_removes_nulls():
    base = {"a": {"x": 1, "y": 2}, "c": {"kind": "markov", "mean_on": 8}, "list": [1, 2], "gone": 1}
    overlay = {"a": {"y": 3}, "c": {"kind": "always"}, "list": [3], "gone": None}
    kept = deepcopy(base)
    assert merge(base, overlay) == {"a": {"x": 1, "y": 3}, "c": {"kind": "always"}, "list": [3]}
    assert base == kept


@pytest.mark.parametrize("scale", sorted(p.stem for p in (CONFIG / "scales").glob("*.yaml")))
def test_every_scale_can_be_planned(scale):
    assert plan_at(scale).runs


def test_a_mistake_in_what_no_experiment_uses_is_told_too():
    with pytest.raises(ConfigError, match=r"studies\.sfg\.named\.topology\.spare: unknown option .* 'degre'"):
        plan_with({"named": {"topology": {"spare": {"kind": "random_regular", "degre": 3}}}})
    with pytest.raises(ConfigError, match=r"studies\.sfg\.methods\.spare: rule: unknown gossip rule 'sgf'"):
        plan_with({"methods": {"spare": {"rule": {"kind": "sgf"}}}})


def test_what_is_described_goes_by_kind_or_short_name_and_partitions_by_their_lowest_seed():
    plan = plan_with(
        {"seeds": [4, 2], **only(outages={})},
        describe=["femnist", "cifar100", "fedscale", "digits"],
    )
    chosen = to_describe(plan)
    assert sorted(name.rsplit("-", 1)[0] for name in chosen["dataset"]) == ["cifar100", "digits", "femnist-0.1"]
    assert [name.rsplit("-", 1)[0] for name in chosen["trace"]] == ["fedscale-30"]
    assert plan.inputs[chosen["trace"].popitem()[1]].spec == {"trace": {"kind": "fedscale", "slot_minutes": 30}}
    assert [plan.inputs[path].spec["seed"] for path in chosen["partition"].values()] == [2]
    assert {"femnist", "cifar100", "fedscale"} <= plan.sources.keys()


def test_numbers_and_truth_values_may_come_as_text():
    """Snakemake hands on what stands inside ``--config key={…}`` as text."""
    overrides = {"sfg": {"seeds": "2", "setting": {"training": {"learning_rate": "0.1"}}}}
    resolved = load(main_config(offline="true", overrides=overrides), CONFIG)
    assert resolved["offline"] is True
    assert resolved["study_settings"]["sfg"]["seeds"] == 2
    assert resolved["study_settings"]["sfg"]["setting"]["training"]["learning_rate"] == 0.1


@pytest.mark.parametrize("value", [-1, ".inf", "often", True])
def test_minutes_between_checkpoints_are_a_number(value):
    assert load(main_config(checkpoint_minutes="0.5"), CONFIG)["checkpoint_minutes"] == 0.5
    with pytest.raises(ConfigError, match=r"config: checkpoint_minutes: .*0 for none before a job is asked to end"):
        load(main_config(checkpoint_minutes=value), CONFIG)


def test_the_number_of_runs_in_a_job_is_the_scales_unless_it_is_given():
    scale = yaml.safe_load((CONFIG / "scales" / "quick.yaml").read_text())["runs_per_job"]
    assert load(main_config(), CONFIG)["runs_per_job"] == scale
    assert load(main_config(runs_per_job="3"), CONFIG)["runs_per_job"] == 3
    with pytest.raises(ConfigError, match=r"config: runs_per_job: 0 .*1 or more"):
        load(main_config(runs_per_job=0), CONFIG)


@pytest.mark.parametrize("text", ["{cifar10: ", "[a", "2020-01-29", "markov", "{a: 1}"])
def test_other_text_stays_text(text):
    assert typed(text) == text


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        ({"sgf": {"seeds": 2}}, ["overrides", "unknown study 'sgf'", "did you mean 'sfg'"]),
        ({"sfg": {"seeds": 3.0}}, ["seeds", "3.0"]),
        ({"sfg": setting(rounds=6.0)}, ["rounds", "6.0", "whole number"]),
        ({"sfg": setting(training={"steps": 2.0})}, ["training.steps", "2.0"]),
        ({"sfg": setting(model={"kind": "cnn", "channels": [2.0], "hidden": []})}, ["channels", "2.0"]),
        ({"sfg": setting(partition={"kind": "dirichlet", "alpha": float("inf"), "test_images": 5})}, ["alpha", "inf"]),
        ({"sfg": {"methods": {"sfg": {"rule": {"kind": "sfg", "gamma": float("nan")}}}}}, ["gamma", "nan"]),
        ({"sfg": only()}, ["experiments", "non-empty"]),
        ({"sfg": {"experiments": {"outages": {"factors": {"partition.alpha": [1, 1]}}}}}, ["alpha", "non-unique"]),
        (
            {"sfg": {"experiments": {"outages": {"factors": {"topology": ["ring", {"kind": "ring"}]}}}}},
            ["factors.topology", "'ring' stands twice"],
        ),
        ({"sfg": setting(topology={"degree": 3})}, ["topology", "no kind", "random_regular"]),
        ({"sfg": {"experiments": {"outages": {"methods": ["dfedavg", "SFG"]}}}}, ["'SFG'", "did you mean 'sfg'"]),
    ],
)
def test_more_mistakes_are_one_clear_line(overrides, parts):
    with pytest.raises(ConfigError) as caught:
        plan_of(main_config(overrides=overrides))
    assert_one_line_with(str(caught.value), parts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs_per_job: 1\n", "'studies' is a required property"),
        ("studies: {}\n", "'runs_per_job' is a required property"),
        ("runs_per_job: 1\nstudies:\n", "'studies' is a required property"),
        ("runs_per_job: 1\nstudies: {sgf: {}}\n", "unknown study 'sgf'; did you mean 'sfg'?"),
        ("runs_per_job: 1\nruns_per_job: 2\nstudies: {}\n", "the key 'runs_per_job' stands twice"),
    ],
)
def test_a_bad_scale_file_is_one_clear_line(tmp_path, text, message):
    shutil.copytree(CONFIG, tmp_path / "config")
    (tmp_path / "config" / "scales" / "bad.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.yaml") as caught:
        load(main_config(scale="bad"), tmp_path / "config")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("analysis", "parts"),
    [
        ({"figures": ["self_wait"]}, ["outages.analysis.figures", "'self_wait'", "did you mean 'self_weight'"]),
        ({"tables": ["acuracy_table"]}, ["outages.analysis.tables", "did you mean 'accuracy_table'"]),
        ({"figures": ["rounds_by_level"]}, ["outages.analysis.figures", "'rounds_by_level' needs the option 'level'"]),
        ({"figures": "self_weight"}, ["analysis.figures", "list of names"]),
        ({"aided": ["mifa", "sgf"]}, ["outages.analysis.aided", "'mifa'"]),
        ({"level": "availibility"}, ["outages.analysis.level", "did you mean 'availability'"]),
        ({"baseline": ["dfedavg", "metropoli"]}, ["outages.methods", "baseline 'metropoli'"]),
        ({"targets": {"digits": {"every": 20}}}, ["targets.digits", "accuracy"]),
    ],
)
def test_a_mistake_in_an_analysis_is_one_clear_line(analysis, parts):
    with pytest.raises(ConfigError) as caught:
        plan_with({"experiments": {"outages": {"analysis": analysis}}})
    assert_one_line_with(str(caught.value), parts)


def test_figures_take_their_options_from_the_analysis_of_their_experiment():
    plan = plan_with({"experiments": {"outages": {"analysis": {"tail": 0.2, "baseline": ["sfg", "dfedavg"]}}}})
    analysis = plan.experiments["sfg/outages"].analysis
    assert shown_options(analysis, "figure", "paired_differences") == {"baseline": ["sfg", "dfedavg"], "tail": 0.2}
    assert shown_options(analysis, "figure", "self_weight") == {}
    assert baselines(analysis) == ["sfg", "dfedavg"]


def test_an_experiment_may_change_one_key_of_its_analysis():
    plan = plan_with({"experiments": {"outages": {"analysis": {"tail": 0.2}}}})
    assert plan.experiments["sfg/outages"].analysis["tail"] == 0.2
    assert plan.experiments["sfg/outages"].analysis["baseline"] == "dfedavg"


FOLLOW = {
    "kind": "trace", "trace": "flash_matrix", "unknown": "offline", "start_slot": 0, "min_coverage": 0,
    "drop_never_online": False, "replacement": "when_needed",
}  # fmt: skip
EVENTS = {"kind": "flash_events", "slot_minutes": 30, "idle": "screen_off", "start": "2020-01-29", "days": 5}
EVENTS |= {"clock_tolerance_seconds": 60}


def with_availability(**changes):
    """The SFG study with nothing but one availability that follows a trace."""
    factors = {"availability": [{**FOLLOW, **changes}]}
    return only(outages={"factors": factors})


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"trace": "flash_matrx"}, ["availability.trace", "flash_matrx", "did you mean 'flash_matrix'"]),
        ({"trace": {"kind": "flash"}}, ["availability.trace", "unknown trace 'flash'"]),
        ({"trace": {"kind": "fedscale"}}, ["availability.trace", "fedscale", "needs the option 'slot_minutes'"]),
        ({"trace": {"kind": "flash_matrix", "slots": 3}}, ["availability.trace", "unknown option", "'slots'"]),
        ({"trace": 5}, ["availability.trace", "5", "a name, or a mapping with a kind"]),
        ({"trace": {**EVENTS, "idle": "screen-off"}}, ["trace.idle", "did you mean 'screen_off'"]),
        ({"trace": {**EVENTS, "start": 20200129}}, ["trace.start", "20200129", "in quotes"]),
        ({"trace": {**EVENTS, "days": 0}}, ["trace.days", "0", "above 0"]),
        ({"unknown": "drop-device"}, ["availability.unknown", "did you mean 'drop_device'"]),
        ({"replacement": "sometimes"}, ["availability.replacement", "sometimes", "when_needed"]),
        ({"min_coverage": 2}, ["availability.min_coverage", "2", "from 0 to 1"]),
        ({"start_slot": 1.5}, ["availability.start_slot", "1.5", "counted from 0"]),
        ({"start": 3}, ["unknown option of availability trace 'start'", "did you mean 'start_slot'"]),
        ({"trace": "custom"}, ["'custom' has no download", "custom: <path>", "device, start and end"]),
        ({"trace": "extrasensory"}, ["'extrasensory' has no download", "user, timestamp, charging and wifi"]),
    ],
)
def test_a_mistake_about_a_trace_is_one_clear_line(changes, parts):
    with pytest.raises(OutageflError) as caught:
        plan_with(with_availability(**changes))
    assert_one_line_with(str(caught.value), parts)


def test_availability_that_follows_a_trace_is_made_from_it_and_it_from_its_source():
    plan = plan_with(with_availability())
    [trace] = [path for path, made in plan.inputs.items() if made.what == "trace"]
    follow = {path: made for path, made in plan.inputs.items() if made.what == "availability" and made.needs}
    assert plan.inputs[trace].spec == {"trace": {"kind": "flash_matrix"}}
    assert plan.inputs[trace].source == "flash_matrix"
    assert "flash_matrix" in plan.sources
    assert all(made.needs == {"trace": trace} for made in follow.values())
    seeds = [made.spec["seed"] for made in follow.values()]
    assert sorted(seeds) == sorted({run.spec["seed"] for run in plan.runs.values()})
    for path, run in plan.runs.items():
        assert (run.inputs["availability"] in follow) is ("-flash_matrix-" in path)


def test_everything_about_a_trace_is_in_the_address_of_what_follows_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where checksums of local files are remembered

    def availability(local=None, **changes):
        made = plan_with(with_availability(**changes), local=local or {}).inputs
        return {path for path, each in made.items() if each.what == "availability" and each.needs}

    (tmp_path / "matrix.npy").write_bytes(b"other bytes")
    base = availability()
    assert base == availability()
    for changes in ({"unknown": "online"}, {"start_slot": 1}, {"trace": EVENTS}, {"min_coverage": 0.5}):
        assert not base & availability(**changes)
    assert not availability(trace=EVENTS) & availability(trace={**EVENTS, "days": 4})
    assert not base & availability(local={"flash_matrix": str(tmp_path / "matrix.npy")})


def test_every_trace_is_followed_from_its_first_slot_on_but_flash_from_its_second_midnight():
    named = load(main_config(), CONFIG)["study_settings"]["sfg"]["named"]["availability"]
    starts = {each["trace"]: each["start_slot"] for each in named.values() if each["kind"] == "trace"}
    assert starts == {"custom": 0, "fedscale": 0, "extrasensory": 0, "flash_matrix": 48, "flash_events": 48}


def test_a_level_given_in_full_has_a_readable_label():
    plan = plan_with(with_availability(trace={"kind": "fedscale", "slot_minutes": 30}))
    [label] = {member.factors["availability"] for _, member in plan.experiments["sfg/outages"].members}
    assert label == "trace fedscale 30 offline 0 0 False when_needed"


@pytest.mark.parametrize(
    ("changes", "level", "without"),
    [
        ({}, "smartphone_flash", []),
        ({"offline": True}, "smartphone_synthetic", ["flash_matrix"]),
        ({"offline": True, "local": {"flash_matrix": __file__}}, "smartphone_flash", []),
        ({"local": {"flash_matrix": __file__}}, "smartphone_flash", []),
        ({"local": {"cifar10": __file__}}, "smartphone_synthetic", ["flash_matrix"]),
        ({"local": {"custom": __file__}}, "smartphone_flash", []),  # says nothing of the network: it has no download
        ({"local": {"custom": __file__, "extrasensory": __file__}}, "smartphone_flash", []),
        ({"local": {"custom": __file__, "svhn": __file__}}, "smartphone_synthetic", ["flash_matrix"]),
        ({"offline": True, "local": {"custom": __file__}}, "smartphone_synthetic", ["flash_matrix"]),
    ],
)
def test_laptop_takes_the_recorded_trace_where_it_can_be_had_and_the_label_says_which(
    changes, level, without, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    config = main_config(scale="laptop", overrides={"sfg": only(outages={})}, studies=["sfg"], **changes)
    settings = load(config, CONFIG)
    assert settings["without"] == without
    plan = make_plan(settings, sources(CONFIG / "sources.yaml", config["local"]))
    labels = {member.factors["availability"] for _, member in plan.experiments["sfg/outages"].members}
    assert labels == {"markov", level}
    assert ("flash_matrix" in plan.sources) is (level == "smartphone_flash")


def test_offline_all_files_that_are_missing_are_told_while_planning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = plan_with(describe=["svhn", "femnist", "cifar10", "cifar100"], local={"cifar10": __file__})
    resources = tmp_path / "resources" / "svhn"
    resources.mkdir(parents=True)
    (resources / "train_32x32.mat").touch()
    [prepared] = [path for path, made in plan.inputs.items() if made.source == "cifar100"]
    (tmp_path / "results" / prepared).mkdir(parents=True)  # what is there needs its source no more
    with pytest.raises(DataError) as caught:
        require_sources(plan, Path("results"))
    assert_one_line_with(str(caught.value), ["config: offline", "`local`"])
    missing = "femnist: resources/femnist/train-00000-of-00001.parquet; svhn: resources/svhn/test_32x32.mat"
    assert f"({missing})" in str(caught.value)
    for name in ("svhn/test_32x32.mat", "femnist/train-00000-of-00001.parquet"):
        (tmp_path / "resources" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "resources" / name).touch()
    require_sources(plan, Path("results"))


def test_a_scale_can_only_do_without_a_source_there_is(tmp_path):
    shutil.copytree(CONFIG, tmp_path / "config")
    scale = tmp_path / "config" / "scales" / "laptop.yaml"
    scale.write_text(scale.read_text().replace("flash_matrix:", "flash_matrx:"))
    with pytest.raises(ConfigError, match=r"laptop\.yaml: without: unknown source 'flash_matrx'; did you mean"):
        load(main_config(scale="laptop"), tmp_path / "config")


@pytest.mark.parametrize("pair", ["seeds", "overrides={sfg: ["])
def test_settings_that_are_none_are_refused(pair):
    with pytest.raises(ConfigError, match="--config"):
        given([pair])


def test_settings_are_read_as_yaml():
    assert given(["device=cpu", "local={a: '/b c'}"]) == {"device": "cpu", "local": {"a": "/b c"}}


@pytest.mark.parametrize("value", [True, 1.0, "1", 0])
def test_a_value_is_judged_even_after_one_that_looks_like_it_was_found_good(value):
    check({"runs_per_job": 1, "studies": {}}, "scale", "a scale")
    with pytest.raises(ConfigError, match="runs_per_job"):
        check({"runs_per_job": value, "studies": {}}, "scale", "a scale")


def test_a_value_that_fits_one_key_is_judged_anew_at_another():
    study = plan_with().runs
    spec = {**next(iter(study.values())).spec, "rounds": 2}
    check(spec, "run", "a spec")
    with pytest.raises(ConfigError, match=r"training\.momentum: 2 "):
        check({**spec, "training": {**spec["training"], "momentum": 2}}, "run", "a spec")
