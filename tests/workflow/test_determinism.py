"""The same spec gives the same bits, whatever is around it (``test_chaos.py``: and the same runs the same results)."""

import json
import os
import subprocess
import sys

import pytest

from tests.workflow import workspaces
from tests.workflow.conftest import Project


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return workspaces.finished(tmp_path_factory)


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
        env=os.environ
        | workspaces.SURROUNDINGS
        | {"PYTHONPATH": str(workspace.root / "workflow"), "PYTHONHASHSEED": "2"},
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    again = tmp_path / "again" / "run"
    assert (again / "metrics.parquet").read_bytes() == (folder / "metrics.parquet").read_bytes()
    assert json.loads((again / "run.json").read_text())["choice"] == records[folder]["choice"]
