"""What nothing asks for any more is listed, and deleted on request alone."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from outagefl.__main__ import main
from outagefl.commands.orphans import size
from outagefl.errors import ConfigError
from outagefl.provenance import orphans
from outagefl.provenance.check import check_folder
from outagefl.runs.plan import checkpoint_file
from tests.unit.recorded_results import CHOICE, DATASET, PARTITION, make_project, run_folder
from tests.unit.test_config import main_config, plan_of

OLD_RUN = "runs/sfg/local-digits-s7-0000000a"
OLD_INPUT = "inputs/partition/dirichlet-9-s7-0000000b.npz"
OLD_CHOICE = "choices/sfg/best_mean-0000000c.json"
REMNANT = "runs/sfg/.tmp-x1y2"
OLD = {OLD_RUN, OLD_INPUT, OLD_CHOICE, REMNANT}
NEEDED = {*map(run_folder, ("sfg", "dfedavg")), PARTITION, DATASET, CHOICE}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Results with orphans; what a configuration asks for is nothing, unless a test says otherwise."""
    make_project(tmp_path / "project", monkeypatch)
    root = Path("results")
    for path in (f"{OLD_RUN}/metrics.parquet", f"{OLD_RUN}/run.json", OLD_INPUT, OLD_CHOICE, f"{REMNANT}/half"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("1234567")
    monkeypatch.setattr(orphans, "wanted", lambda given, folder: set())
    return root


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["outagefl", "orphans", *arguments])
    return main()


def existing(root: Path) -> set[str]:
    return {path for path in OLD | NEEDED if (root / path).exists()}


def test_orphans_are_listed_with_size_and_date_and_nothing_is_deleted(results, monkeypatch, capsys):
    os.utime(results / OLD_RUN, (1e9, 1e9))
    assert run(monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["14", "B", "2001-09-09", lines[0].split()[3], "run", f"results/{OLD_RUN}"]
    assert {line.split()[-1] for line in lines[:4]} == {f"results/{path}" for path in OLD}
    assert lines[-2:] == [
        "kept: 2 runs that no experiment has, but that existing results were made from",
        "4 orphans, 35 B",
    ]
    assert existing(results) == OLD | NEEDED


def test_what_an_experiment_asks_for_is_no_orphan(results):
    found = orphans.orphans(results, {OLD_RUN, OLD_INPUT})
    assert {OLD_RUN, OLD_INPUT}.isdisjoint(each.path.relative_to(results).as_posix() for each in found)


def test_a_checkpoint_is_an_orphan_when_its_run_is_finished_or_not_asked_for(results):
    wanted, finished, unasked = "runs/sfg/sfg-0.1-s0-0000000d", run_folder("sfg"), OLD_RUN
    for path in (wanted, finished, unasked):
        file = checkpoint_file(results, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"12")
    found = [each.path for each in orphans.orphans(results, {wanted, finished}) if each.kind == "checkpoint"]
    assert sorted(found) == sorted(checkpoint_file(results, path) for path in (finished, unasked))
    orphans.remove(orphans.orphans(results, {wanted, *NEEDED}), results)
    assert [path.stem for path in (results / ".checkpoints").rglob("*.pt")] == ["sfg-0.1-s0-0000000d"]


def test_removing_keeps_what_results_were_made_from(results, monkeypatch, capsys):
    assert run(monkeypatch, "--remove", "--yes") == 0
    assert capsys.readouterr().out.endswith("Deleted.\n")
    assert existing(results) == NEEDED
    assert check_folder(results.absolute(), "quick", Path.cwd(), Path("workflow")).findings() == []


def test_removed_results_set_their_runs_inputs_and_records_free(results, monkeypatch):
    subprocess.run(["rm", "-r", "results/quick"], check=True)
    assert run(monkeypatch, "--remove", "--yes") == 0
    assert existing(results) == set()
    assert not list((results / "provenance" / "input").rglob("*.json"))
    assert not list((results / "provenance" / "choice").rglob("*.json"))


@pytest.mark.parametrize(("answer", "left"), [("y", NEEDED), ("n", OLD | NEEDED), ("", OLD | NEEDED)])
def test_a_terminal_is_asked(results, monkeypatch, answer, left):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    assert run(monkeypatch, "--remove") == 0
    assert existing(results) == left


def test_without_a_terminal_yes_must_be_given(results, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(SystemExit, match="expected --yes"):
        run(monkeypatch, "--remove")
    assert existing(results) == OLD | NEEDED


@pytest.mark.parametrize("lock", [".workflow.lock", ".locks/sfg-digits-s0.lock"])
def test_nothing_is_removed_while_a_workflow_or_a_training_job_is_at_work(results, monkeypatch, lock):
    (results / ".locks").mkdir()
    with (results / lock).open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="wait until it has finished"):
            run(monkeypatch, "--remove", "--yes")
    assert existing(results) == OLD | NEEDED


@pytest.mark.parametrize("path", ["provenance/claims/quick.json", f"{run_folder('sfg')}/run.json"])
def test_records_that_cannot_be_read_could_name_anything_and_stop_it(results, monkeypatch, path):
    (results / path).write_text("{")
    with pytest.raises(SystemExit, match=path):
        run(monkeypatch, "--remove", "--yes")
    assert existing(results) == OLD | NEEDED


def test_every_study_and_scale_is_planned_with_the_settings_given(tmp_path, monkeypatch):
    make_project(tmp_path / "project", monkeypatch)
    for scale in ("laptop", "paper"):
        Path(f"config/scales/{scale}.yaml").unlink()
    wanted = orphans.wanted({"studies": ["sfg"], "overrides": {"sfg": {"seeds": 3}}}, Path("config"))
    studies = ["sfg", "dflaa", "fedswe"]
    plan = plan_of(main_config(studies=studies, overrides={"sfg": {"seeds": 3}}))
    assert wanted == {*plan.runs, *plan.inputs, *plan.choices}


def test_a_scale_that_cannot_be_planned_stops_it(tmp_path, monkeypatch):
    make_project(tmp_path / "project", monkeypatch)
    Path("config/scales/laptop.yaml").write_text("studies: {}\n")
    with pytest.raises(ConfigError, match=r"laptop\.yaml"):
        orphans.wanted({}, Path("config"))


@pytest.mark.parametrize(("count", "told"), [(0, "0 B"), (999, "999 B"), (1500, "2 kB"), (2.5e9, "2.5 GB")])
def test_sizes_are_readable(count, told):
    assert size(count) == told
