"""Disks that are full, cannot be written, or show files late."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.workflow.conftest import REPOSITORY, Project, outagefl, two_runs

RUNS = "results/tiny/runs.csv"  # the target of tests that need no figures
# For the end of a script: what it made is seen only after a while, as on a network file system.
LATE = """
import os, subprocess
for path in {paths}:
    os.rename(path, path + ".late")
    subprocess.Popen(["sh", "-c", f"{until} && mv '{{path}}.late' '{{path}}'"], start_new_session=True)
"""
NEVER, SOON = "false", "sleep 2"


@contextmanager
def disk(folder: Path, size: str) -> Iterator[None]:
    """A disk of its own in place of the folder."""
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=False).returncode:
        assert "CI" not in os.environ, "these tests need the right to mount"
        pytest.skip("needs the right to mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """No space left on the disk of the folder."""
    with (folder / "taken").open("wb", buffering=0) as taken, suppress(OSError):
        while taken.write(bytes(4096)):
            pass
    yield
    (folder / "taken").unlink()


def told(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("outagefl: ")]


def test_disks_full_of_results_records_or_notes_are_told_and_nothing_is_lost(finished, project):
    """One after the other has no space left until somebody makes some: no run is damaged, the next call goes on."""
    project.change(two_runs)
    results, notes = project.root / "results", project.root / ".snakemake"
    targets = ["--cores", "2", RUNS, "results/tiny/config.yaml"]
    with disk(results, "200k"), disk(notes, "4m"):
        lines = told(project.fail(*targets))
        assert any("free: 0 MB in results" in line and "make space" in line for line in lines), lines
        subprocess.run(["mount", "-o", "remount,size=20m", results], check=True)

        with disk(results / "provenance", "16k"), full(results / "provenance"):
            lines = told(project.fail(*targets))
            assert any("No space left on device" in line for line in lines), lines

        with full(notes):
            output = project.fail(*targets)
            assert "No space left on device" in output
            assert str(notes) in output

        project.finish(*targets)
        assert project.metrics().items() <= finished.metrics().items()
        assert project.planned(*targets[2:]) == {}
        checked = outagefl(project, "verify", "results/tiny")
        assert checked.returncode == 0, checked.stdout
        assert not list(results.rglob(".tmp-*"))


def test_a_full_disk_of_logs_stops_nothing(finished, project):
    logs = project.root / "results" / "logs"
    logs.mkdir(parents=True)
    with disk(logs, "16k"), full(logs):
        project.finish("--cores", "2", a_graph(finished))


def test_folders_that_cannot_be_written_are_told_in_one_line(project):
    results, notes = project.root / "results", project.root / ".snakemake"
    results.touch()
    [line] = told(project.fail("--cores", "1"))
    assert line == "outagefl: results: expected a folder for the results, found a file; move it: mv results results.old"
    results.unlink()
    with disk(results, "1m"), disk(notes, "1m"):
        subprocess.run(["mount", "-o", "remount,ro", results], check=True)
        output = project.fail("--cores", "1")
        assert "outagefl: results: the folder for the results cannot be written (Read-only file system)" in output
        assert "Traceback" not in output
        subprocess.run(["mount", "-o", "remount,ro", notes], check=True)
        [line] = told(project.fail("--cores", "1"))
        assert line == f"outagefl: {notes}: cannot be written (it belongs to root), and Snakemake keeps its notes there"


def a_graph(project: Project) -> str:
    """The path of an input that is quickly made."""
    [path] = (project.root / "results" / "inputs" / "topology").glob("*s0*")
    return str(path.relative_to(project.root))


def appear(project: Project, until: str, script: str, paths: str) -> None:
    """Have a script end with LATE."""
    kept = (REPOSITORY / "workflow" / "scripts" / script).read_text()
    (project.root / "workflow" / "scripts" / script).write_text(kept + LATE.format(until=until, paths=paths))


def test_outputs_that_appear_late_are_waited_for_as_long_as_asked(finished, project):
    target = a_graph(finished)
    appear(project, NEVER, "input.py", "snakemake.output")
    output = project.fail("--cores", "1", target, "--latency-wait", "1")
    assert "increase the wait time with --latency-wait" in " ".join(output.split())
    appear(project, SOON, "input.py", "snakemake.output")
    project.finish("--cores", "1", target, "--latency-wait", "60")


def test_runs_that_appear_late_are_waited_for_though_no_rule_declares_them(finished):
    runs = 'map("results/{}".format, read_job(root, snakemake.wildcards.job))'
    log = "results/logs/index/tiny/sfg/outages.log"
    before = finished.metrics()
    run = finished.root / "results" / next(iter(before))
    shutil.rmtree(run)
    appear(finished, NEVER, "train.py", runs)
    lines = told(finished.fail("--cores", "1", RUNS, "--latency-wait", "1"))
    assert any(f"{run.name}/metrics.parquet: missing" in line for line in lines), lines
    (finished.root / log).unlink()
    shutil.rmtree(f"{run}.late")
    appear(finished, f"until [ -e {log} ]; do sleep 0.1; done; sleep 1", "train.py", runs)
    finished.finish("--cores", "1", RUNS, "--latency-wait", "60")
    assert finished.metrics() == before
