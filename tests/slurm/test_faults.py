"""The workflow on a Slurm cluster, through profiles/slurm, and what happens there: jobs and machines that are lost.

One test, since there can be only one cluster: all is done at the same time, each to a workflow of its own, and reported
as a subtest.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.slurm.cluster import Cluster, processes, run
from tests.workflow.conftest import Project, kill_group, two_runs, wait_for

INDEX = "results/tiny/runs.csv"
# Ask early and often how jobs are, and trust that this machine's own disk is there at once.
HURRIED = ("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "5")
NOT_N2 = ("--slurm-exclude-failed-nodes", "n2")  # that node will be killed
PATIENCE = 500  # seconds
SLOW = """
_offer = RunCheckpoint.offer
def _slow(self, number, state):
    _offer(self, number, state)
    time.sleep(0.1)
RunCheckpoint.offer = _slow
"""


class Workflow:
    """A workflow that runs on the cluster."""

    def __init__(self, project: Project, *arguments: str) -> None:
        self.root = project.root
        self.process = project.start(INDEX, "--profile", "profiles/slurm", "--cores", "1", *HURRIED, *arguments)

    @property
    def output(self) -> str:
        return (self.root / "output.log").read_text()

    def jobs(self) -> list[str]:
        """Slurm's numbers of the jobs so far."""
        return re.findall(r"has been submitted with SLURM jobid (\d+)", self.output)

    def asked(self, resource: str) -> list[int]:
        """How much of a resource training jobs asked for, attempt by attempt."""
        resources = re.findall(r"^rule train:\n(?:    .*\n)*?    resources: (.*)$", self.output, re.MULTILINE)
        amounts = [int(re.search(rf"\b{resource}=(\d+)", line)[1]) for line in resources]
        return sorted(set(amounts))  # a job says it again, in its own log

    def wait_for_training(self) -> psutil.Process:
        """Wait until a run has left a checkpoint, a long time before it ends; the process that trains it."""
        wait_for(lambda: list(self.root.glob("results/.checkpoints/sfg/*.pt")), PATIENCE)
        [training] = wait_for(self.at_work, PATIENCE)
        return training

    def at_work(self) -> list[psutil.Process]:
        """The process that trains; none between two attempts."""
        scripts = processes(f"{self.root}/.snakemake/scripts/")
        return [process for process in scripts if process.info["cmdline"][0].endswith("python")]

    def finish(self) -> None:
        assert self.process.wait(PATIENCE) == 0, self.output[-8000:]

    def logs(self) -> str:
        """What Slurm wrote about jobs that failed."""
        return "".join(log.read_text() for log in self.root.glob(".snakemake/slurm_logs/**/*.log"))

    def given(self, variable: str) -> list[str | None]:
        """What the job that trained it had in a variable of its environment, run by run in the order of training."""
        return [record["allocation"].get(variable) for record in self.records()]

    def resumed(self) -> bool:
        """Whether some run was gone on from a checkpoint."""
        return any(record["resumed_from"] for record in self.records())

    def records(self) -> list[dict[str, Any]]:
        """How each run was made, in the order of training."""
        files = self.root.glob("results/runs/sfg/*/run.json")
        return sorted((json.loads(file.read_text()) for file in files), key=lambda record: record["started"])


def partitions(cluster: Cluster, prepared: Project) -> None:
    """Jobs that ask for a GPU go where there are some, and see theirs; others go to the other partition."""
    assert "gpu=1" in prepared.finish("-n", INDEX, config="device=cuda")
    shutil.rmtree(prepared.root / "results" / "inputs" / "topology")  # something for a job without GPU
    workflow = Workflow(prepared, *NOT_N2, "--set-resources", "train:gpu=1", "train:gpu_model='a100'")
    workflow.finish()
    told = [dict(re.findall(r"(\w+)=(\S*)", run("scontrol", "-o", "show", "job", job))) for job in workflow.jobs()]
    assert [(job["Comment"].split("_")[1], job["Partition"]) for job in told] == [("inputs", "cpu"), ("train", "gpu")]
    for variable, value in {"SLURM_JOB_PARTITION": "gpu", "SLURM_STEP_GPUS": "0", "CUDA_VISIBLE_DEVICES": "0"}.items():
        assert workflow.given(variable) == [value, value]


def cancelled(cluster: Cluster, prepared: Project) -> None:
    """A job that somebody cancels saves where it is, and goes on there when it is tried again."""
    workflow = Workflow(prepared, *NOT_N2)
    workflow.wait_for_training()
    [job] = workflow.jobs()
    run("scancel", job)
    workflow.finish()
    assert f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in workflow.output
    assert len(workflow.jobs()) == 2
    assert workflow.resumed()


def time_limit(cluster: Cluster, prepared: Project) -> None:
    """A job that reaches its time limit says so, saves where it is, and goes on there with more time."""
    workflow = Workflow(prepared, *NOT_N2, "--set-resources", "train:runtime=1 * attempt")
    workflow.wait_for_training().suspend()  # Slurm wakes it up at the limit
    workflow.finish()
    assert "SLURM status is: 'TIMEOUT'" in workflow.output
    assert "DUE TO TIME LIMIT" in workflow.output
    assert workflow.asked("runtime")[:2] == [1, 2]
    assert workflow.resumed()


def warning(cluster: Cluster, prepared: Project) -> None:
    """A job that is warned before its time limit ends by itself, and goes on where it was with more time."""
    warned = "train:slurm_extra='--signal=TERM@10'"  # what the profile says, for a job of a minute
    workflow = Workflow(prepared, *NOT_N2, "--set-resources", "train:runtime=1 * attempt", warned)
    training = workflow.wait_for_training()  # where it takes longer than the warning to begin: of another attempt
    training.suspend()
    job = workflow.jobs()[-1]
    wait_for(lambda: f"STEP {job}.0 ON n1 CANCELLED" in workflow.logs(), PATIENCE)
    training.resume()
    workflow.finish()
    assert "SLURM status is: 'FAILED'" in workflow.output
    assert "interrupted by SIGTERM" in workflow.output
    assert workflow.asked("runtime")[:2] == [1, 2]
    assert workflow.resumed()


def memory(cluster: Cluster, prepared: Project) -> None:
    """A job that takes more memory than it asked for is killed, and has more when it is tried again."""
    workflow = Workflow(prepared, *NOT_N2, "--set-resources", "train:mem_mb=250 * attempt**2")
    workflow.finish()
    assert "exceeded memory limit" in workflow.logs()
    assert workflow.asked("mem_mb")[:2] == [250, 1000]


def node(cluster: Cluster, prepared: Project) -> None:
    """Jobs of a node that dies go back to the queue, and elsewhere they go on from their last checkpoint."""
    workflow = Workflow(prepared)
    training = workflow.wait_for_training()
    [job] = workflow.jobs()
    assert training in cluster.kill_node("n2")
    workflow.finish()
    assert workflow.jobs() == [job]
    assert workflow.given("SLURMD_NODENAME") == ["n1", "n1"]
    assert workflow.resumed()


def snakemake(cluster: Cluster, prepared: Project) -> None:
    """Snakemake is killed while its jobs go on: started again, it takes what they finish and trains no run twice."""
    workflow = Workflow(prepared, *NOT_N2)
    workflow.wait_for_training()
    [job] = workflow.jobs()
    kill_group(workflow.process)
    again = Workflow(prepared, *NOT_N2)
    again.finish()
    assert again.given("SLURM_JOB_ID")[0] == job


def test_faults(cluster: Cluster, tmp_path: Path, subtests: pytest.Subtests) -> None:
    faults: list[Callable[[Cluster, Project], None]] = [
        time_limit,
        warning,
        node,
        memory,
        cancelled,
        snakemake,
        partitions,
    ]
    prepared = Project.new(tmp_path / "prepared")
    prepared.change(two_runs)
    # On any machine a run takes ten seconds, most of which it sleeps, so that there is time to do something to it.
    prepared.change(lambda study: study["setting"].update(rounds=100, evaluation={"every": 5}))
    with (prepared.root / "workflow" / "outagefl" / "runs" / "checkpoints.py").open("a") as module:
        module.write(SLOW)
    main = prepared.root / "config" / "config.yaml"
    main.write_text(yaml.safe_dump(yaml.safe_load(main.read_text()) | {"checkpoint_minutes": 0.01}))
    prepared.finish("--cores", "2", INDEX, "--until", "input")
    projects = {fault: Project(shutil.copytree(prepared.root, tmp_path / fault.__name__)) for fault in faults}
    with ThreadPoolExecutor(len(faults)) as pool:
        done = {fault: pool.submit(fault, cluster, project) for fault, project in projects.items()}
    for fault, each in done.items():
        with subtests.test(fault.__doc__):
            each.result()
