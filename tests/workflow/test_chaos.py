"""Whatever is killed, whenever: the same command goes on, and ends with the same bits."""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from tests.workflow import chaos, workspaces
from tests.workflow.conftest import SNAKEMAKE, Project, kill_group, two_runs, wait_for

RUNS = "results/tiny/runs.csv"


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return workspaces.finished(tmp_path_factory)


def test_kills_batches_cores_threads_folder_locale_time_zone_and_hash_seed_change_no_bit(workspace, tmp_path):
    """A workflow in other surroundings, in smaller batches, is killed in part and as a whole."""
    project = workspaces.new(tmp_path / "a folder" / "project")
    project.tiny.write_text(project.tiny.read_text().replace("runs_per_job: 16", "runs_per_job: 4"))

    def start(log: Path) -> subprocess.Popen[str]:
        command = [SNAKEMAKE, "--snakefile", project.root / "workflow" / "Snakefile", "--directory", project.root]
        command += ["--workflow-profile", project.root / "profiles" / "default"]  # as the README says
        with log.open("w") as output:
            return subprocess.Popen(
                [*map(str, command), "--cores", "2", "--config", "scale=tiny"],
                cwd=log.parent,
                env=os.environ | workspaces.SURROUNDINGS,
                stdout=output,
                stderr=output,
                text=True,
                start_new_session=True,
            )

    seed = random.randrange(10**6)
    print(f"seed of the kills: {seed}")
    done = chaos.survive(start, tmp_path, kills=3, jobs=16, pause=2, rng=random.Random(seed))
    print(*done, sep="\n")
    assert {what for what, _ in done} == set(chaos.KINDS)
    assert workspaces.planned(project) == []
    assert chaos.differences(workspaces.contents(project), workspaces.contents(workspace)) == []
    assert not list((project.root / "results").rglob(".tmp-*"))


def test_a_file_left_between_its_job_and_snakemakes_note_of_it_does_not_hide_what_depends_on_it(project):
    """All is killed when a graph and a data set are there, and Snakemake does not know it yet."""
    project.change(two_runs)
    before = project.planned(RUNS)
    script = project.root / "workflow" / "scripts" / "input.py"
    kept = script.read_text()
    script.write_text(kept + '\nimport os\nif snakemake.rule == "dataset":\n    os.killpg(0, 9)\n')
    assert project.start("--cores", "1", RUNS).wait(300) != 0
    script.write_text(kept)
    assert list((project.root / "results" / "inputs" / "dataset").glob("*/*.npy"))
    after = project.planned(RUNS)
    assert after.keys() == before.keys()
    assert after["train"] == before["train"]


def test_of_workflows_that_start_at_once_one_goes_on_and_the_other_is_told_which(project):
    project.change(two_runs)
    logs = [project.root / f"{number}.log" for number in range(2)]
    started = [project.start("--cores", "1", RUNS, log=log) for log in logs]
    try:
        wait_for(lambda: sum(process.poll() is None for process in started) == 1)
        [winner] = [process for process in started if process.poll() is None]
        assert project.planned(RUNS)  # looking is always allowed
        for process, log in zip(started, logs, strict=True):
            if process is not winner:
                assert process.returncode != 0
                [line] = re.findall("^outagefl: .*", log.read_text(), re.MULTILINE)
                told = (
                    r"outagefl: results/ is in use by process (\d+) of \S+ on \S+ since [-\d]+ [:\d]+; wait until it "
                    r"has finished, look at it there: ps -fp \1, or end it there: kill \1 .*"
                )
                assert re.fullmatch(told, line)[1] == str(winner.pid)
    finally:
        for process in started:
            if process.poll() is None:
                kill_group(process)
    # What was killed leaves no lock: the next one starts at once.
    again = project.run("--cores", "1", "results/tiny/config.yaml")
    assert again.returncode == 0, again.stderr
