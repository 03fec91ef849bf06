"""A whole tiny reproduction through Snakemake: what is made, what is made again, what a killed one leaves."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from outagefl.commands.run import read_spec
from outagefl.errors import ConfigError
from tests.workflow.conftest import SNAKEMAKE, Project, outagefl, two_runs

RUNS = "results/tiny/runs.csv"  # the target of tests that need no figures
FIGURES = ("accuracy_over_rounds", "paired_differences", "self_weight", "effective_lag")


def test_a_reproduction_makes_index_tables_figures_and_claims(finished):
    results = finished.root / "results" / "tiny"
    index = pd.read_csv(results / "runs.csv")
    assert len(index) == 4 * 2
    assert set(index["method"]) == {"dfedavg", "sfg", "sfg_cut", "always_on"}
    for run in index["run"]:
        record = json.loads((finished.root / "results" / run / "run.json").read_text())
        assert record["spec"]["rounds"] == 6
        assert record["packages"]["torch"]
        assert record["device"] != "auto"
    for name in ("comparisons.csv", "comparison.tex", "comparison.html"):
        assert (results / "sfg" / "outages" / name).stat().st_size > 0
    for figure in FIGURES:
        assert (results / "sfg" / "outages" / "figures" / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert (results / "sfg" / "outages" / "figures" / f"{figure}.pdf").read_bytes().startswith(b"%PDF")
    assert "S3" in set(pd.read_csv(results / "claims.csv")["id"])


def test_a_training_job_logs_its_progress(finished):
    logs = "".join(path.read_text() for path in (finished.root / "results" / "logs" / "train").glob("*.log"))
    assert "round 6/6, accuracy 0." in logs
    assert "ETA 0 s" in logs


def test_nothing_is_planned_after_a_finished_reproduction(finished):
    assert finished.planned() == {}
    assert not list((finished.root / "results" / ".jobs").iterdir())


def test_what_killed_jobs_left_is_swept_in_the_folder_of_the_results_wherever_the_workflow_was_started(
    finished, tmp_path
):
    results = finished.root / "results"
    for remnant in (results / "tiny" / "sfg" / ".tmp-1", results / "runs" / ".tmp-2"):
        remnant.mkdir()
        (remnant / "half.png").write_bytes(b"half a figure")
    (results / "tiny" / "claims.csv").unlink()
    command = [SNAKEMAKE, "--snakefile", finished.root / "workflow" / "Snakefile", "--directory", finished.root]
    subprocess.run([*command, "--cores", "1", "--config", "scale=tiny"], cwd=tmp_path, check=True)
    assert not list(results.rglob(".tmp-*"))
    assert not list((results / ".jobs").iterdir())


def test_another_folder_one_core_and_batches_of_another_size_give_the_same_bits_and_train_nothing_twice(
    finished, project
):
    content = finished.tiny.read_text().replace("runs_per_job: 4", "runs_per_job: 7")
    finished.tiny.write_text(content)
    assert finished.planned() == {"resolved_config": 1, "report": 1}
    project.tiny.write_text(content)
    project.finish("--cores", "1", RUNS)
    assert project.metrics() == finished.metrics()


def test_new_seeds_and_experiments_train_only_runs_that_are_new(finished):
    def add_an_experiment(study):
        study["experiments"]["gamma"] = {
            "title": "A second experiment",
            "factors": {"availability": ["bernoulli"]},
            "methods": ["dfedavg", "sfg", "local"],
        }

    before = finished.metrics()
    finished.change(add_an_experiment)
    assert finished.planned()["train"] == 1  # local, two seeds
    finished.change(lambda study: study.update(seeds=3))
    assert finished.planned()["train"] == 2  # and dfedavg, sfg, sfg_cut, always_on and local with the third
    finished.finish("--cores", "2", RUNS)
    after = finished.metrics()
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2 + 5
    assert finished.planned(RUNS) == {}


def test_a_removed_method_trains_nothing(finished):
    finished.change(lambda study: study["experiments"]["outages"]["methods"].remove("sfg"))
    planned = finished.planned()
    assert "train" not in planned
    assert planned["index"] == 1


def test_editing_one_rule_retrains_its_runs_and_a_comment_retrains_nothing(finished):
    rule = finished.root / "workflow" / "outagefl" / "rules" / "gossip" / "sfg.py"
    source = rule.read_text()
    rule.write_text("# A remark.\n" + source)
    assert finished.planned() == {}
    rule.write_text(source + "\nUNUSED = 1\n")
    assert finished.planned()["train"] == 1  # sfg, two seeds


def test_a_damaged_run_is_refused_until_it_is_deleted_and_runs_that_lack_a_file_are_trained_again(finished):
    before = finished.metrics()
    damaged, *incomplete = list(before)[:3]
    with (finished.root / "results" / damaged / "metrics.parquet").open("ab") as stream:
        stream.write(b"x")
    (finished.root / "results/tiny/sfg/outages/figures/effective_lag.png").unlink()
    output = finished.fail("--cores", "2")
    line = next(line for line in output.splitlines() if line.startswith("outagefl: "))
    assert damaged in line
    assert f"delete results/{damaged}" in line

    shutil.rmtree(finished.root / "results" / damaged)
    lacking = [
        finished.root / "results" / run / name
        for run, name in zip(incomplete, ("metrics.parquet", "run.json"), strict=True)
    ]
    for path in lacking:
        path.unlink()
    assert finished.planned()["train"] == 1
    finished.finish("--cores", "2", RUNS)
    assert finished.metrics() == before
    assert all(path.is_file() for path in lacking)
    assert finished.planned(RUNS) == {}


def test_settings_can_be_overridden_on_the_command_line(finished):
    planned = finished.planned(config="overrides={sfg: {seeds: 3, setting: {training: {learning_rate: 0.2}}}}")
    assert planned["train"] == 1


def test_single_files_and_runs_are_targets(project):
    project.change(two_runs)
    outages = project.root / "results/tiny/sfg/outages"
    wanted = {"comparison.html", "figures/self_weight.png"}
    project.finish("--cores", "2", *(f"results/tiny/sfg/outages/{name}" for name in wanted))
    assert all((outages / name).stat().st_size > 0 for name in wanted)
    assert {path.stem for path in (outages / "figures").iterdir()} == {"self_weight"}

    run = pd.read_csv(outages / "runs.csv")["run"][0]
    shutil.rmtree(project.root / "results" / run)
    project.finish("--cores", "2", f"results/{run}/metrics.parquet")
    assert (project.root / "results" / run / "metrics.parquet").is_file()


def test_what_is_finished_is_a_target_too_and_stays_as_it_is(finished):
    runs = [f"results/{run}/metrics.parquet" for run in finished.metrics()]
    index = "results/tiny/sfg/outages/runs.csv"
    assert "Nothing to be done" in finished.finish("--cores", "1", index, f"./{runs[0]}")
    subprocess.run(["rm", "-r", (finished.root / runs[1]).parent], check=True)
    assert finished.planned(runs[0], runs[1]) == {"train": 1, "run": 1}
    assert finished.planned(runs[0]) == {}
    assert finished.planned(index) == {"train": 1, "index": 1}
    assert "MissingRuleException" in finished.fail("-n", runs[0].replace("-s", "-t"))


def test_a_run_from_its_spec_alone_gives_the_same_bits(finished):
    run = next(iter(finished.metrics()))
    done = outagefl(finished, "run", f"results/{run}/run.json", "--output", "again", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    again = finished.root / "again" / "run" / "metrics.parquet"
    assert again.read_bytes() == (finished.root / "results" / run / "metrics.parquet").read_bytes()


def write_spec(project: Project, edit) -> Path:
    """The spec of a run, edited, in a file of its own."""
    run = next(iter(project.metrics()))
    record = json.loads((project.root / "results" / run / "run.json").read_text())
    edit(record["spec"])
    path = project.root / "spec.json"
    path.write_text(json.dumps(record["spec"]))
    return path


def test_a_bad_spec_is_one_clear_line(finished):
    write_spec(finished, lambda spec: spec["rule"].update(kind="sgf"))
    done = outagefl(finished, "run", "spec.json", "--output", "again")
    assert done.returncode == 1
    assert re.fullmatch(r"outagefl: spec\.json: .*unknown gossip rule 'sgf'.*\n", done.stderr)
    assert not (finished.root / "again").exists()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda spec: spec.update(round=3), "unknown key 'round'; did you mean 'rounds'?"),
        (lambda spec: spec.pop("clients"), "'clients' is a required property"),
    ],
)
def test_mistakes_in_a_spec(finished, edit, message):
    with pytest.raises(ConfigError, match=rf"spec\.json: {re.escape(message)}"):
        read_spec(write_spec(finished, edit))
