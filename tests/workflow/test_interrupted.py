"""Snakemake killed or asked to end in the middle of a run, which then goes on from its checkpoint."""

import json
import os
import signal
from pathlib import Path

import yaml

from tests.workflow.conftest import Project, kill_group, outagefl, two_runs, wait_for

RUNS = "results/tiny/runs.csv"


def long_run(study) -> None:
    two_runs(study)
    study["setting"] |= {"rounds": 250, "evaluation": {"every": 50}}
    study["experiments"]["outages"] |= {"methods": ["dfedavg"], "analysis": {"baseline": "dfedavg"}}


def every(project: Project, minutes: float) -> None:
    main = project.root / "config" / "config.yaml"
    main.write_text(yaml.safe_dump(yaml.safe_load(main.read_text()) | {"checkpoint_minutes": minutes}))


def log(project: Project) -> str:
    return "".join(path.read_text() for path in (project.root / "results/logs/train").glob("*.log"))


def checkpoints(project: Project) -> list[Path]:
    return list((project.root / "results" / ".checkpoints").glob("sfg/*.pt"))


def test_a_run_goes_on_after_its_processes_were_killed_and_after_they_were_asked_to_end(project):
    project.change(long_run)
    every(project, 0.002)
    process = project.start("--cores", "1", RUNS)
    wait_for(lambda: checkpoints(project))
    kill_group(process)

    every(project, 0)  # from now on only when asked
    process = project.start("--cores", "1", RUNS)
    wait_for(lambda: "goes on from round" in log(project))
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(120) != 0
    wait_for(lambda: "interrupted by SIGTERM; dfedavg-digits-bernoulli-s0" in log(project))
    assert checkpoints(project)

    project.finish("--cores", "1", RUNS)
    assert not checkpoints(project)
    [run] = project.metrics()
    record = json.loads((project.root / "results" / run / "run.json").read_text())
    killed, asked = record["resumed_from"]
    assert 0 < killed < asked
    assert f"goes on from round {asked}/250" in log(project)
    assert project.planned(RUNS) == {}

    done = outagefl(project, "run", f"results/{run}/run.json", "--output", "again", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    undisturbed = project.root / "again" / "run" / "metrics.parquet"
    assert undisturbed.read_bytes() == (project.root / "results" / run / "metrics.parquet").read_bytes()
