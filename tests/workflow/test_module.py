"""The workflow as a module of another one: deployed by snakedeploy from a Git host, or taken from a folder."""

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.workflow import workspaces
from tests.workflow.conftest import REPOSITORY, TINY, Project

PARTS = ("config", "workflow", "profiles", "report", "envs", "LICENSE", "README.md", "pyproject.toml")
LIBRARY = Path("installed", "outagefl_workflow", "workflow")  # below the folder of a test, as pip lays it out
CONFIG = "results/tiny/config.yaml"
MODULE = """
configfile: "config/config.yaml"

module outagefl:
    snakefile: {snakefile!r}
    config: config

use rule * from outagefl exclude resolved_config as federated_*
use rule resolved_config from outagefl as my_config with:
    log: "results/logs/config/mine.log"

rule mine:
    output: "mine.txt"
    shell: "python3 -c 'import my_library' > {{output}}"
"""

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def publish(folder: Path, monkeypatch) -> None:
    """Put this repository, as it is now, where git finds it in place of github.com, tagged v1."""
    folder.mkdir(parents=True)
    ignore = shutil.ignore_patterns("__pycache__")
    for source in map(REPOSITORY.joinpath, PARTS):
        target = folder / source.name
        shutil.copytree(source, target, ignore=ignore) if source.is_dir() else shutil.copy(source, target)
    settings = {
        f"url.{folder.parents[1].as_uri()}/.insteadOf": "https://github.com/",
        "user.name": "nobody",
        "user.email": "nobody@localhost",
    }
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    for number, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    for command in (["init"], ["add", "."], ["commit", "-m", "Publish"], ["tag", "v1"]):
        run("git", *command, cwd=folder)


def outagefl(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the installed library in the project's folder."""
    command = [sys.executable, "-m", "outagefl", *arguments]
    return subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)


def printed() -> list[list[str]]:
    """The commands of the README's section, for what was published."""
    readme = (REPOSITORY / "README.md").read_text()
    [block] = re.findall(r"## Use it from your own workflow\n\n```sh\n(.*?)```", readme, re.DOTALL)
    block = block.replace("OWNER", "someone").replace("TAG", "v1")
    return [shlex.split(line, comments=True) for line in block.splitlines()]


@pytest.fixture
def deployed(tmp_path: Path, monkeypatch) -> Project:
    """A deployment as the README says, with the tiny scale beside the others."""
    pytest.importorskip("snakedeploy", reason="snakedeploy needs Python 3.11 or 3.12")
    publish(tmp_path / "host" / "someone" / "outagefl", monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / LIBRARY))
    (pip, *install), _, (snakedeploy, *deploy), (_, folder), _ = printed()
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", "installed"]
    run(sys.executable, "-m", pip, *install, *options, cwd=tmp_path)
    run(Path(sys.executable).parent / snakedeploy, *deploy, cwd=tmp_path)
    project = Project(tmp_path / folder)
    project.tiny.write_text(yaml.safe_dump(TINY))
    main = project.root / "config" / "config.yaml"
    main.write_text(yaml.safe_dump({**yaml.safe_load(main.read_text()), "studies": ["sfg"]}))
    return project


def test_a_deployment_comes_to_the_results_of_the_workflow_itself_and_plans_nothing(deployed, finished, monkeypatch):
    assert sorted(path.name for path in deployed.root.iterdir()) == ["LICENSE", "config", "profiles", "workflow"]
    assert [path.name for path in (deployed.root / "workflow").iterdir()] == ["Snakefile"]
    deployed.finish(*printed()[-1][1:])
    assert workspaces.contents(deployed) == workspaces.contents(finished)
    assert deployed.metrics() == finished.metrics()
    assert deployed.planned() == {}
    assert not list((deployed.root / "results" / ".jobs").iterdir())
    # Taken from a folder, under other names, it is the same workflow.
    snakefile = str(REPOSITORY / "workflow" / "Snakefile")
    (deployed.root / "workflow" / "Snakefile").write_text(MODULE.format(snakefile=snakefile))
    assert deployed.planned(CONFIG) == {}
    (deployed.root / CONFIG).unlink()
    deployed.finish("--cores", "1", CONFIG)
    assert deployed.planned(CONFIG) == {}
    assert (done := outagefl(deployed, "verify", "results/tiny")).returncode == 0, done.stdout
    # What the workflow around it imports is still found.
    (folder := deployed.root / "libraries").mkdir()
    (folder / "my_library.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    deployed.finish("--cores", "1", "mine.txt")


def test_the_catalog_finds_what_it_lists_as_standardized():
    settings = yaml.safe_load((REPOSITORY / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert {"mandatory-flags", "software-stack-deployment", "report"} == settings.keys()
    assert (REPOSITORY / "config" / "README.md").exists()
    assert (REPOSITORY / "workflow" / "Snakefile").exists()
    assert {path.suffix for path in (REPOSITORY / "workflow" / "rules").iterdir() if path.is_file()} == {".smk"}
    readme = (REPOSITORY / "README.md").read_text().lower()
    assert "snakemake" in readme
    assert "workflow" in readme


def test_a_deployment_says_why_it_cannot_run(deployed, tmp_path):
    (lock := deployed.root / "results" / ".workflow.lock").parent.mkdir()
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write("process 1 of somebody\n")
        held.flush()
        assert "outagefl: results/ is in use by process 1 of somebody" in deployed.fail("--cores", "1")
        assert deployed.planned()["train"] == 2
    script = tmp_path / LIBRARY / "scripts" / "table.py"
    script.write_text(script.read_text() + "\nUNUSED = 1\n")
    assert f"outagefl: {script} differs from the workflow's" in deployed.fail("-n")
    shutil.rmtree(tmp_path / LIBRARY)
    assert "outagefl: the Python package outagefl is not installed" in deployed.fail("-n")
