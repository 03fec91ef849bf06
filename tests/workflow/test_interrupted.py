"""A workflow killed or asked to end in the middle of a run, which then goes on from its checkpoint.

The signal comes from within the run, at a round that the test names: it is always in time, on any machine.
"""

import json
import signal
from pathlib import Path

import yaml

from tests.workflow.conftest import Project, outagefl, two_runs, wait_for

RUNS = "results/tiny/runs.csv"
HIT = """
import os
_offer = RunCheckpoint.offer
def _hit(self, number, state):
    if number == {number}:
        os.killpg(0, {sent})  # Snakemake and all its jobs
    _offer(self, number, state)
RunCheckpoint.offer = _hit
"""


def one_run(study) -> None:
    two_runs(study)
    study["setting"] |= {"rounds": 10, "evaluation": {"every": 4}}
    study["experiments"]["outages"] |= {"methods": ["dfedavg"], "analysis": {"baseline": "dfedavg"}}


def every(project: Project, minutes: float) -> None:
    main = project.root / "config" / "config.yaml"
    main.write_text(yaml.safe_dump(yaml.safe_load(main.read_text()) | {"checkpoint_minutes": minutes}))


def hit(project: Project, number: int, sent: signal.Signals) -> None:
    """Start the workflow, all of whose processes get a signal once the run has come to a round."""
    module = project.root / "workflow" / "outagefl" / "runs" / "checkpoints.py"
    kept = module.read_text()
    module.write_text(kept + HIT.format(number=number, sent=int(sent)))
    assert project.start("--cores", "1", RUNS).wait(300) != 0
    module.write_text(kept)


def log(project: Project) -> str:
    return "".join(path.read_text() for path in (project.root / "results/logs/train").glob("*.log"))


def checkpoints(project: Project) -> list[Path]:
    return list((project.root / "results" / ".checkpoints").glob("sfg/*.pt"))


def test_a_run_goes_on_after_its_processes_were_killed_and_after_they_were_asked_to_end(project):
    project.change(one_run)
    every(project, 1e-9)
    hit(project, 4, signal.SIGKILL)
    assert checkpoints(project)

    every(project, 0)  # from now on only when asked
    hit(project, 7, signal.SIGTERM)
    wait_for(lambda: "interrupted by SIGTERM; dfedavg-digits-bernoulli-s0" in log(project))
    assert checkpoints(project)

    project.finish("--cores", "1", RUNS)
    assert not checkpoints(project)
    [run] = project.metrics()
    record = json.loads((project.root / "results" / run / "run.json").read_text())
    killed, asked = record["resumed_from"]
    assert 0 < killed < 4
    assert asked == 7
    assert "goes on from round 7/10" in log(project)
    assert project.planned(RUNS) == {}

    done = outagefl(project, "run", f"results/{run}/run.json", "--output", "again", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    undisturbed = project.root / "again" / "run" / "metrics.parquet"
    assert undisturbed.read_bytes() == (project.root / "results" / run / "metrics.parquet").read_bytes()
