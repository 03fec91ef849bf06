"""An option chosen on validation seeds: what is behind a choice, what changes it, what is chosen, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from outagefl.analysis.choice.best_mean import choose
from outagefl.analysis.choices import create
from outagefl.analysis.indexes import read_index
from outagefl.analysis.tables import chosen_values
from outagefl.commands.run import read_spec
from outagefl.config import load
from outagefl.engines.metrics import tidy
from outagefl.errors import ConfigError, DataError
from outagefl.fingerprint import closure
from outagefl.runs.choices import read_choice, with_value
from outagefl.runs.jobs import plan_jobs
from outagefl.runs.theory import declared_checks
from tests.unit.test_config import CONFIG, assert_one_line_with, main_config, only, plan_at, plan_with

CHOICE = {"kind": "best_mean", "candidates": [0, 3], "seeds": [1000, 1001], "tail": 0.1}


def study(**changes):
    """The SFG study with two settings, whose margin is chosen as ``CHOICE`` says, with changes."""
    return {
        "methods": {"sfg_validated": {"rule": {"kind": "sfg_cut", "gamma": 0.5, "margin": {**CHOICE, **changes}}}},
        **only(margins={"factors": {"topology": ["ring", "regular4"]}}),
    }


def chosen(plan):
    """The runs that use each choice, by the choice's path."""
    runs = {path: [] for path in plan.choices}
    for path, run in plan.runs.items():
        if "choice" in run.inputs:
            runs[run.inputs["choice"]].append(path)
    return runs


def ancestors(plan, path):
    """Everything in the plan that a choice, run or input is made from."""
    if path in plan.choices:
        needs = plan.choices[path].runs
    else:
        needs = plan.runs[path].inputs.values() if path in plan.runs else plan.inputs[path].needs.values()
    return {*needs}.union(*(ancestors(plan, need) for need in needs))


def write_metrics(folder: Path, accuracy: float) -> None:
    """The metrics of a run of ten rounds whose accuracy is 0.1 until the last one."""
    values = np.array([*[0.1] * 9, accuracy])[:, None]
    folder.mkdir(parents=True, exist_ok=True)
    tidy({"accuracy": values, "loss": values}, np.arange(1.0, 11)).to_parquet(folder / "metrics.parquet")


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_nothing_that_is_compared_is_behind_a_choice(scale, tmp_path):
    """At the scales that have the experiment as they are: in the plan, and in the jobs that Snakemake waits for."""
    plan = plan_at(scale)
    members = {path for experiment in plan.experiments.values() for path, _ in experiment.members}
    tested = {member.seed for experiment in plan.experiments.values() for _, member in experiment.members}
    jobs = plan_jobs(plan, tmp_path, scale, 7)
    assert jobs.choices == [*plan.choices]
    assert len(plan.choices) == {"quick": 1, "paper": 4}[scale]
    for path, choice in plan.choices.items():
        trained = {run for job in map(jobs.of.get, choice.runs) for run in jobs.runs[job]}
        behind = ancestors(plan, path).union(*(ancestors(plan, run) for run in trained), trained)
        assert behind & plan.runs.keys() == trained
        assert not trained & members
        specs = [(plan.runs.get(each) or plan.inputs[each]).spec for each in behind]
        seeds = {spec["seed"] for spec in specs if "seed" in spec}
        assert seeds == set(choice.settings["seeds"])
        assert not seeds & tested


def test_the_runs_of_a_setting_share_a_choice_made_in_this_very_setting():
    plan = plan_with(study())
    assert len(plan.choices) == 2
    for path, runs in chosen(plan).items():
        assert sorted(plan.runs[run].spec["seed"] for run in runs) == [0, 1]
        [setting] = {json.dumps({**plan.runs[run].spec, "seed": 0}) for run in runs}
        made_from = [plan.runs[run].spec for run in plan.choices[path].runs]
        spec = json.loads(setting)
        assert made_from == [{**with_value(spec, margin), "seed": seed} for margin in (0, 3) for seed in (1000, 1001)]


def test_jobs_wait_for_a_choice_only_where_they_need_it(tmp_path):
    plan = plan_with(study())
    jobs = plan_jobs(plan, tmp_path, "quick", 100)
    assert len(jobs.runs) == 3
    assert sorted({run for runs in chosen(plan).values() for run in runs}) in map(sorted, jobs.runs.values())


def test_all_that_can_change_a_choice_is_in_the_address_of_the_runs_that_use_it(monkeypatch):
    def addresses(plan):
        return {path for runs in chosen(plan).values() for path in runs}

    base = plan_with(study())
    assert addresses(base) == addresses(plan_with(study()))
    for option, value in {"candidates": [0, 4], "seeds": [1000, 1002], "tail": 0.2}.items():
        changed = plan_with(study(**{option: value}))
        assert not addresses(base) & addresses(changed)
        others = base.runs.keys() ^ changed.runs.keys() ^ addresses(base) ^ addresses(changed)
        assert all((base.runs | changed.runs)[run].spec["seed"] >= 1000 for run in others)
    for module in ("analysis.choice.best_mean", "analysis.results", "runs.choices"):

        def code(*modules, edited=f"outagefl.{module}"):
            return {name: digest + "!" * (name == edited) for name, digest in closure(modules).items()}

        monkeypatch.setattr("outagefl.runs.plan._code", code)
        changed = plan_with(study())
        assert not addresses(base) & addresses(changed)
        assert base.runs.keys() - addresses(base) == changed.runs.keys() - addresses(changed)


def test_a_compared_run_cannot_change_a_choice_and_a_validation_run_can(tmp_path):
    plan = plan_with(study())
    path, choice = next(iter(plan.choices.items()))
    for place, run in enumerate(plan.runs):
        write_metrics(tmp_path / run, 0.5 if run in choice.runs[2:] else 0.2 + place / 1000)

    def made():
        create(choice.settings, choice.runs, tmp_path, tmp_path / path)
        return (tmp_path / path).read_text()

    before = made()
    assert json.loads(before)["value"] == 3
    assert json.loads(before)["runs"] == list(choice.runs)
    for run in plan.runs.keys() - set(choice.runs):
        write_metrics(tmp_path / run, 1.0)
    assert made() == before
    write_metrics(tmp_path / choice.runs[0], 1.0)
    assert json.loads(made())["value"] == 0


@pytest.mark.parametrize(
    ("accuracies", "value"),
    [
        ([0.4, 0.6, 0.5, 0.7, 0.5, 0.5], 1),  # means 0.5, 0.6, 0.5
        ([0.9, 0.1, 0.5, 0.5, 0.5, 0.5], 1),  # all equal: the smallest, wherever it stands
        ([0.5, 0.8, 0.5, 0.5, 0.8, 0.5], 3),  # the first and the last equal
    ],
)
def test_the_best_mean_is_chosen_and_of_equals_the_smallest(tmp_path, accuracies, value):
    folders = [tmp_path / str(place) for place in range(6)]
    for folder, accuracy in zip(folders, accuracies, strict=True):
        write_metrics(folder, accuracy)
    choice = choose(folders, candidates=[3, 1, 5], seeds=[10, 11], tail=0.1)
    assert choice["value"] == value
    assert [each["value"] for each in choice["candidates"]] == [3, 1, 5]
    np.testing.assert_allclose([each["scores"] for each in choice["candidates"]], 100 * np.reshape(accuracies, (3, 2)))


def test_a_score_is_over_the_tail(tmp_path):
    for name, accuracy in (("a", 1.0), ("b", 0.4)):
        write_metrics(tmp_path / name, accuracy)
    found = choose([tmp_path / "a", tmp_path / "b"], candidates=[1, 2], seeds=[7], tail=0.5)
    assert [each["mean"] for each in found["candidates"]] == pytest.approx([28, 16])


def test_a_validation_run_without_a_result_is_told(tmp_path):
    with pytest.raises(DataError, match=r"a/metrics\.parquet: no such file"):
        choose([tmp_path / "a"], candidates=[1], seeds=[1], tail=0.1)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"kind": "best_meen"}, ["rule.margin", "unknown choice 'best_meen'", "did you mean 'best_mean'"]),
        ({"tial": 0.1}, ["rule.margin", "'tial'", "did you mean 'tail'"]),
        ({"candidates": []}, ["rule.margin: candidates", "two or more different numbers"]),
        ({"candidates": [3]}, ["rule.margin: candidates", "[3]", "two or more different numbers"]),
        ({"candidates": [3, 1, 3.0]}, ["rule.margin: candidates", "non-unique"]),
        ({"candidates": [3, "one"]}, ["rule.margin: candidates.1", "'one'", "number"]),
        ({"candidates": [3, True]}, ["rule.margin: candidates.1", "True", "number"]),
        ({"candidates": [3, -1]}, ["rule.margin", "-1", "a number of rounds, 0 or more"]),
        ({"seeds": []}, ["rule.margin: seeds", "list of different seeds"]),
        ({"seeds": [1000, 1000]}, ["rule.margin: seeds", "non-unique"]),
        ({"seeds": 3}, ["rule.margin: seeds", "list of different seeds"]),
        ({"tail": 0}, ["rule.margin: tail", "0", "above 0"]),
        ({"seeds": [1000, 4]}, ["methods.sfg_validated: rule.margin.seeds: 4", "margins", "(studies.sfg.seeds)"]),
    ],
)
def test_a_mistake_in_a_choice_is_one_clear_line(changes, parts):
    overrides = study(**changes)
    with pytest.raises(ConfigError) as caught:
        plan_with({**overrides, "seeds": 5, **only(margins={"seeds": None})})
    assert_one_line_with(str(caught.value), ["studies.sfg.methods.sfg_validated", *parts])


def test_no_experiment_may_have_a_validation_seed_even_if_it_is_not_run():
    other = {"title": "Another", "methods": ["dfedavg"], "seeds": [5, 1001], "skip": True}
    with pytest.raises(
        ConfigError, match=r"margin\.seeds: 1001 .* other .*\(studies\.sfg\.experiments\.other\.seeds\)"
    ):
        plan_with({**study(), **only(other=other)})


def test_one_option_at_most_is_chosen():
    rule = {"kind": "sfg_cut", "gamma": {**CHOICE, "candidates": [0.5, 0.9]}, "margin": CHOICE}
    with pytest.raises(ConfigError, match="rule: gamma and margin are to be chosen; expected one"):
        plan_with({"methods": {"sfg_validated": {"rule": rule}}})


def test_a_theory_check_takes_no_method_with_a_choice():
    settings = load(main_config(studies=["sfg"]), CONFIG)
    settings["study_settings"]["sfg"]["theory"]["scalar_toy"]["methods"].append("sfg_validated")
    with pytest.raises(ConfigError, match=r"sfg\.theory\.scalar_toy\.methods: 'sfg_validated': margin is chosen from"):
        declared_checks(settings)


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (
            {**CHOICE, "seeds": [1000, 7]},
            r"spec\.json: rule\.margin\.seeds: \[1000, 7\] hold the seed of the run itself",
        ),
        ({"kind": "best_mean", "seeds": [1000], "tail": 0.1}, r"spec\.json: rule\.margin: 'candidates' is a required"),
    ],
)
def test_a_mistake_in_the_choice_of_a_single_spec_is_told(tmp_path, margin, message):
    rule = {"kind": "sfg_cut", "gamma": 0.5, "margin": margin}
    spec = next(iter(plan_with(study()).runs.values())).spec
    (tmp_path / "spec.json").write_text(json.dumps({**spec, "rule": rule, "seed": 7}))
    with pytest.raises(ConfigError, match=message):
        read_spec(tmp_path / "spec.json")


def test_another_component_than_a_rule_has_no_choice():
    with pytest.raises(ConfigError, match=r"partition\.alpha: .* is not of type 'number'"):
        plan_with({"setting": {"partition": {"kind": "dirichlet", "alpha": CHOICE, "test_images": 5}}})


def record(**changes):
    kept = {"value": 3, "candidates": [{"value": 0}, {"value": 3}], "seeds": [1000, 1001]}
    return json.dumps(kept | changes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (record(value=1), "1 was chosen; expected one of 0, 3; delete it and run again"),
        (record(candidates=[{"value": 0}]), r"made from other candidates or seeds than \[0, 3\]"),
        (record(seeds=[1000]), r"made from other .* than \[0, 3\] and \[1000, 1001\]; delete it"),
        ('{"value": 3}', "not the record of a choice"),
        ('{"value"', "not the record of a choice"),
        ("[]", "not the record of a choice"),
    ],
)
def test_a_record_that_holds_no_choice_is_refused(tmp_path, content, message):
    (tmp_path / "choice.json").write_text(content)
    with pytest.raises(DataError, match=message):
        read_choice(tmp_path / "choice.json", {"rule": {"kind": "sfg_cut", "margin": CHOICE}})


def write_compared(root: Path, choices) -> Path:
    """The index and records of runs with and without a choice, two seeds a setting; ``choices``: setting → choice."""
    rows = []
    for topology, choice in choices.items():
        for method, margin in (("sfg_cut", 3), ("sfg_validated", CHOICE)):
            for seed in (0, 1):
                run = f"runs/{topology}-{method}-{seed}"
                (root / run).mkdir(parents=True)
                record = {"spec": {"rule": {"kind": "sfg_cut", "margin": margin}}, "choice": choice}
                (root / run / "run.json").write_text(json.dumps(record))
                place = {"study": "sfg", "experiment": "margins", "topology": topology}
                rows.append({**place, "method": method, "seed": seed, "run": run, "checksum": ""})
    pd.DataFrame(rows).to_csv(root / "runs.csv", index=False)
    return root / "runs.csv"


def test_the_table_of_chosen_values(tmp_path):
    def choice(value, *means):
        found = [{"value": v, "mean": m, "scores": [m, m]} for v, m in zip((3, 0), means, strict=True)]
        return {"value": value, "candidates": found}

    index = read_index(write_compared(tmp_path, {"small_world": choice(3, 61.239, 60), "ring": choice(0, 50, 50)}))
    table = chosen_values.tabulate(index, tmp_path)
    assert table.tidy.to_dict("list") == {
        "setting": ["small_world"] * 2 + ["ring"] * 2,
        "method": ["sfg_validated"] * 4,
        "option": ["margin"] * 4,
        "candidate": [3, 0, 3, 0],
        "mean": [61.239, 60, 50, 50],
        "n": [2] * 4,
        "chosen": [True, False, False, True],
    }
    assert list(table.shown.index) == [(name, "SFG-Cut (validated)") for name in ("small_world", "ring")]
    assert list(table.shown.columns) == [("margin", 0), ("margin", 3)]
    assert table.shown.to_numpy().tolist() == [["60.00", "61.24"], ["50.00", "50.00"]]
    assert table.marks.to_numpy().tolist() == [["", "bold"], ["bold", ""]]
    assert "over 2 validation seeds" in table.caption
    with pytest.raises(DataError, match="no method of this experiment"):
        chosen_values.tabulate(index[index["method"] == "sfg_cut"], tmp_path)
