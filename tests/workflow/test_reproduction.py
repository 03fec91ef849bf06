"""A whole tiny reproduction through Snakemake: what is made, what is made again, what a killed one leaves."""

import json
import os
import signal
import subprocess
from functools import partial

import pandas as pd
import pytest

from tests.workflow.conftest import Project, kill_group, outagefl, wait_for

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


def test_one_and_two_cores_and_another_folder_give_the_same_bits(finished, project):
    project.finish("--cores", "1", RUNS)
    assert project.metrics() == finished.metrics()


def test_batches_of_another_size_give_the_same_bits_and_train_nothing_twice(finished, project):
    content = finished.tiny.read_text().replace("runs_per_job: 2", "runs_per_job: 7")
    finished.tiny.write_text(content)
    assert finished.planned() == {"resolved_config": 1}
    project.tiny.write_text(content)
    project.finish("--cores", "2", RUNS)
    assert project.metrics() == finished.metrics()


def test_a_new_seed_trains_only_its_runs(finished):
    before = finished.metrics()
    finished.change(lambda study: study.update(seeds=3))
    planned = finished.planned()
    assert planned["train"] == 2  # dfedavg, sfg, sfg_cut and always_on in batches of two
    finished.finish("--cores", "2", RUNS)
    after = finished.metrics()
    assert before.items() <= after.items()
    assert len(after) == len(before) + 4
    assert finished.planned(RUNS) == {}


def test_an_experiment_that_shares_runs_trains_only_what_is_new(finished):
    def add(study):
        study["experiments"]["gamma"] = {
            "title": "A second experiment",
            "factors": {"availability": ["bernoulli"]},
            "methods": ["dfedavg", "sfg", "local"],
        }

    before = finished.metrics()
    finished.change(add)
    assert finished.planned()["train"] == 1  # local, two seeds
    finished.finish("--cores", "2", RUNS)
    assert len(finished.metrics()) == len(before) + 2


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


def test_a_deleted_run_is_trained_again(finished):
    before = finished.metrics()
    run = next(iter(before))
    subprocess.run(["rm", "-r", finished.root / "results" / run], check=True)
    assert finished.planned()["train"] == 1
    finished.finish("--cores", "2", RUNS)
    assert finished.metrics() == before
    assert finished.planned(RUNS) == {}


@pytest.mark.parametrize("name", ["metrics.parquet", "run.json"])
def test_a_run_that_lacks_a_file_is_trained_again(finished, name):
    before = finished.metrics()
    (finished.root / "results" / next(iter(before)) / name).unlink()
    assert finished.planned()["train"] == 1
    finished.finish("--cores", "2", RUNS)
    assert finished.metrics() == before
    assert finished.planned(RUNS) == {}


def test_a_damaged_run_is_refused_with_what_to_do(finished):
    run = next(iter(finished.metrics()))
    with (finished.root / "results" / run / "metrics.parquet").open("ab") as stream:
        stream.write(b"x")
    (finished.root / "results/tiny/sfg/outages/figures/effective_lag.png").unlink()
    output = finished.fail("--cores", "2")
    line = next(line for line in output.splitlines() if line.startswith("outagefl: "))
    assert run in line
    assert f"delete results/{run}" in line
    subprocess.run(["rm", "-r", finished.root / "results" / run], check=True)
    finished.finish("--cores", "2", RUNS)


def test_settings_can_be_overridden_on_the_command_line(finished):
    planned = finished.planned(config="overrides={sfg: {seeds: 3, setting: {training: {learning_rate: 0.2}}}}")
    assert planned["train"] == 2


def test_a_full_disk_is_one_line_and_the_next_call_goes_on(finished, project):
    """A results folder on a small file system that fills up, and is then made larger."""
    results = project.root / "results"
    results.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", results], check=False)
    if mounted.returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        output = project.fail("--cores", "2")
        assert "No space left on device" in output or "is the disk full?" in output
        subprocess.run(["mount", "-o", "remount,size=200m", results], check=True)
        project.finish("--cores", "2", RUNS)
        assert project.metrics() == finished.metrics()
    finally:
        subprocess.run(["umount", "-l", results], check=True)


def test_a_single_run_is_a_target(project):
    jobs = project.root / "results"
    project.finish("--cores", "2", "results/tiny/sfg/outages/runs.csv")
    run = next(iter(pd.read_csv(jobs / "tiny/sfg/outages/runs.csv")["run"]))
    target = f"results/{run}/metrics.parquet"
    subprocess.run(["rm", "-r", project.root / "results" / run], check=True)
    project.finish("--cores", "2", target)
    assert (project.root / target).is_file()


def test_what_is_finished_is_a_target_too_and_stays_as_it_is(finished):
    runs = [f"results/{run}/metrics.parquet" for run in finished.metrics()]
    index = "results/tiny/sfg/outages/runs.csv"
    assert "Nothing to be done" in finished.finish("--cores", "1", index, f"./{runs[0]}")
    subprocess.run(["rm", "-r", (finished.root / runs[1]).parent], check=True)
    assert finished.planned(runs[0], runs[1]) == {"train": 1, "run": 1}
    assert finished.planned(runs[0]) == {}
    assert finished.planned(index) == {"train": 1, "index": 1}
    assert "MissingRuleException" in finished.fail("-n", runs[0].replace("-s", "-t"))


def ended_or_trained(process: subprocess.Popen[str], project: Project, runs: int) -> bool:
    started = list((project.root / "results" / ".jobs").glob("*"))
    trained = list((project.root / "results" / "runs" / "sfg").glob("[!.]*"))
    return process.poll() is not None or (bool(started) and len(trained) >= runs)


def test_snakemake_and_its_jobs_killed_in_the_middle(finished, project):
    """SIGKILL of everything at once, three times at different points, then one call that finishes."""
    for runs in (0, 1, 4):
        process = project.start("--cores", "2", RUNS)
        wait_for(partial(ended_or_trained, process, project, runs))
        kill_group(process)
    project.finish("--cores", "2", RUNS)
    assert project.metrics() == finished.metrics()
    assert project.planned(RUNS) == {}
    assert not list((project.root / "results").rglob(".tmp-*"))


def test_snakemake_alone_killed_while_its_jobs_go_on(finished, project):
    process = project.start("--cores", "2", RUNS)
    wait_for((project.root / "results/runs").is_dir)
    process.send_signal(signal.SIGKILL)
    process.wait()
    project.finish("--cores", "2", RUNS)
    assert project.metrics() == finished.metrics()


def test_a_killed_training_job_is_reported_and_the_next_call_finishes(finished, project):
    process = project.start("--cores", "2", RUNS)

    def training():
        return subprocess.run(
            ["pgrep", "-g", str(process.pid), "-f", "train.py"], capture_output=True, text=True, check=False
        ).stdout.split()

    wait_for(training)
    for child in training():
        try:
            os.kill(int(child), signal.SIGKILL)
        except ProcessLookupError:
            continue
    assert process.wait(120) != 0
    project.finish("--cores", "2", RUNS)
    assert project.metrics() == finished.metrics()


def test_a_second_snakemake_in_the_same_folder_is_told_who_is_at_work(project):
    process = project.start("--cores", "1")
    wait_for((project.root / "results" / ".workflow.lock").exists)
    wait_for((project.root / "results" / ".workflow.lock").read_text)
    message = project.fail("--cores", "1")
    assert f"in use by process {process.pid}" in message
    assert project.planned()  # looking is always allowed
    kill_group(process)


@pytest.mark.parametrize("target", ["comparison.html", "figures/self_weight.png"])
def test_one_file_is_a_target(project, target):
    project.finish("--cores", "2", f"results/tiny/sfg/outages/{target}")
    assert (project.root / "results/tiny/sfg/outages" / target).stat().st_size > 0


def test_a_run_from_its_spec_alone_gives_the_same_bits(finished):
    run = next(iter(finished.metrics()))
    done = outagefl(finished, "run", f"results/{run}/run.json", "--output", "again", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    again = finished.root / "again" / "run" / "metrics.parquet"
    assert again.read_bytes() == (finished.root / "results" / run / "metrics.parquet").read_bytes()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda spec: spec["rule"].update(kind="sgf"), "unknown gossip rule 'sgf'"),
        (lambda spec: spec.update(round=3), "unknown key 'round'; did you mean 'rounds'?"),
        (lambda spec: spec.pop("clients"), "'clients' is a required property"),
    ],
)
def test_a_bad_spec_is_one_clear_line(finished, edit, message):
    run = next(iter(finished.metrics()))
    record = json.loads((finished.root / "results" / run / "run.json").read_text())
    edit(record["spec"])
    (finished.root / "spec.json").write_text(json.dumps(record["spec"]))
    done = outagefl(finished, "run", "spec.json", "--output", "again")
    assert done.returncode == 1
    assert done.stderr.startswith("outagefl: spec.json")
    assert message in done.stderr
    assert not (finished.root / "again").exists()
