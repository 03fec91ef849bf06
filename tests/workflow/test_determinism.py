"""The same spec gives the same bits, and the same runs the same tables and figures, whatever is around them."""

import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.workflow import workspaces
from tests.workflow.conftest import SNAKEMAKE, Project, kill_group, wait_for

# Text is ASCII where the code does not say otherwise, it is another day, sets have another order, two threads compute.
SURROUNDINGS = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "TZ": "Pacific/Kiritimati",
    "PYTHONHASHSEED": "1",
    "OMP_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "MKL_NUM_THREADS": "2",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return workspaces.finished(tmp_path_factory)


def start(project: Project, log: Path) -> subprocess.Popen[str]:
    """Start the workflow from another folder, in a process group of its own."""
    command = [SNAKEMAKE, "--snakefile", project.root / "Snakefile", "--directory", project.root]
    with log.open("w") as output:
        return subprocess.Popen(
            [*map(str, command), "--cores", "2", "--config", "scale=tiny"],
            cwd=log.parent,
            env=os.environ | SURROUNDINGS,
            stdout=output,
            stderr=output,
            text=True,
            start_new_session=True,
        )


def ended_or_done(process: subprocess.Popen[str], log: Path, jobs: int) -> bool:
    return process.poll() is not None or log.read_text(errors="replace").count("\nFinished jobid: ") >= jobs


def test_kills_batches_cores_threads_folder_locale_time_zone_and_hash_seed_change_no_bit(workspace, tmp_path):
    """Snakemake and all its jobs are killed at random moments, then one call finishes; each run is a job of its own."""
    project = workspaces.new(tmp_path / "a folder" / "project")
    project.tiny.write_text(project.tiny.read_text().replace("runs_per_job: 16", "runs_per_job: 1"))
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    print(f"seed of the moments: {seed}")
    for number in range(3):
        log = tmp_path / f"killed-{number}.log"
        process = start(project, log)
        jobs, seconds = moments.randrange(18), moments.uniform(0, 3)
        wait_for(partial(ended_or_done, process, log, jobs), workspaces.PATIENCE)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            print(f"killed {seconds:.2f} s after {jobs} jobs")
            kill_group(process)
    log = tmp_path / "finished.log"
    assert start(project, log).wait(workspaces.PATIENCE) == 0, log.read_text()[-5000:]
    assert workspaces.planned(project) == []
    expected, found = workspaces.contents(workspace), workspaces.contents(project)
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []


@pytest.mark.parametrize(
    "run",
    ["sfg/sfg-*-bernoulli-s0-*", "sfg/dfedavg-*-trace-*", "fedswe/fedswe-*", "dflaa/dflaa-*", "chosen"],
)
def test_a_spec_alone_on_one_core_gives_the_bits_it_has_in_a_batch(workspace, tmp_path, run):
    runs = workspace.root / "results" / "runs"
    records = {path.parent: json.loads(path.read_text()) for path in runs.rglob("run.json")}
    folder = next(
        each for each, record in records.items() if (record["choice"] if run == "chosen" else each.match(run))
    )
    trace = ["--trace", str(workspace.root / "trace.csv")] if "trace" in str(run) else []
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "outagefl",
            "run",
            str(folder / "run.json"),
            "--output",
            "again",
            "--device",
            "cpu",
            *trace,
        ],
        cwd=tmp_path,
        env=os.environ | SURROUNDINGS | {"PYTHONPATH": str(workspace.root / "workflow"), "PYTHONHASHSEED": "2"},
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    again = tmp_path / "again" / "run"
    assert (again / "metrics.parquet").read_bytes() == (folder / "metrics.parquet").read_bytes()
    assert json.loads((again / "run.json").read_text())["choice"] == records[folder]["choice"]
