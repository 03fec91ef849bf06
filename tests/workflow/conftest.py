"""A copy of the workflow in a folder of its own, with a scale so small that a whole reproduction takes seconds."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
SNAKEMAKE = Path(sys.executable).parent / "snakemake"

STUDY = yaml.safe_load((REPOSITORY / "config" / "studies" / "sfg.yaml").read_text())

TINY = {
    "runs_per_job": 4,
    "studies": {
        "sfg": {
            "setting": {
                "clients": 5,
                "rounds": 6,
                "dataset": "digits",
                "partition": {"kind": "dirichlet", "alpha": 1.0, "test_images": 10},
                "topology": "ring",
                "model": {"kind": "cnn", "channels": [4, 4], "hidden": [8]},
                "training": {"steps": 2, "batch_size": 8, "learning_rate": 0.2},
                "evaluation": {"every": 1},
            },
            "seeds": 2,
            "theory": None,
            "experiments": {
                **dict.fromkeys(STUDY["experiments"]),
                "outages": {
                    "factors": {"task": None, "availability": ["bernoulli"], "topology": None},
                    "methods": ["dfedavg", "sfg", "sfg_cut", "always_on"],
                },
            },
        },
        "fedswe": {
            "setting": {
                "task": "digits",
                "clients": 6,
                "rounds": 8,
                "training": {"steps": 2, "batch_size": 8},
                "evaluation": {"every": 2, "last": 0, "train_images": 50},
            },
            "presets": {
                "task": {
                    "digits": {
                        "dataset": "digits",
                        "model": {"kind": "cnn", "channels": [4, 4], "hidden": [8]},
                        "training.augmentation": "none",
                    }
                }
            },
            "seeds": 2,
            "theory": None,
            "experiments": {
                "dynamics": {"factors": {"task": ["digits"], "availability": ["sine"]}},
                "interpolation": {
                    "setting": {"evaluation": {"every": 2}},
                    "factors": {"task": ["digits"], "availability": ["periodic"], "rule.k": [0, 6]},
                },
                **dict.fromkeys(("nonstationarity", "heterogeneity", "bias", "periodic", "protocols", "tuning")),
            },
        },
    },
}


def two_runs(study) -> None:
    """For ``Project.change``: of the outages, one seed of two methods, where it does not matter how many runs."""
    study["seeds"] = 1
    study["experiments"]["outages"]["methods"] = ["dfedavg", "sfg"]


class Project:
    """A workflow in a folder of its own, ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tiny = root / "config" / "scales" / "tiny.yaml"

    @classmethod
    def new(cls, root: Path, studies: tuple[str, ...] = ("sfg",)) -> "Project":
        """A copy of the workflow with some of its studies at the tiny scale."""
        root.mkdir(parents=True)
        for name in ("config", "workflow", "profiles", "report", "envs"):
            shutil.copytree(REPOSITORY / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        main = root / "config" / "config.yaml"
        main.write_text(yaml.safe_dump({**yaml.safe_load(main.read_text()), "studies": list(studies)}))
        project = cls(root)
        project.tiny.write_text(yaml.safe_dump(TINY))
        return project

    def command(self, *arguments: str, scale: str = "tiny", config: str = "") -> list[str]:
        settings = ["--config", f"scale={scale}", *([config] if config else [])]
        return ["timeout", "-k", "5", "900", str(SNAKEMAKE), *arguments, *settings]

    def run(self, *arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            self.command(*arguments, **options),
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    def finish(self, *arguments: str, **options: str) -> str:
        """Run, expect success, return what was printed."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done.stdout + done.stderr

    def fail(self, *arguments: str, **options: str) -> str:
        """Run, expect failure, return what was printed."""
        done = self.run(*arguments, **options)
        assert done.returncode not in (0, 124), done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    def start(self, *arguments: str, log: str | Path = "output.log", **options: str) -> subprocess.Popen[str]:
        """Start without waiting, in a process group of its own."""
        command = self.command(*arguments, **options)[4:]
        with (self.root / log).open("w") as output:
            return subprocess.Popen(
                command, cwd=self.root, stdout=output, stderr=output, text=True, start_new_session=True
            )

    def planned(self, *arguments: str, **options: str) -> dict[str, int]:
        """How many jobs of each rule a dry run plans."""
        lines = self.finish("-n", *arguments, **options).splitlines()
        if "Job stats:" not in lines:
            return {}
        table = lines[lines.index("Job stats:") + 3 :]
        rows = [line.split() for line in table[: table.index("")]]
        return {name: int(count) for name, count in rows if name not in ("all", "total")}

    def change(self, change) -> None:
        """Change the tiny scale: ``change(study settings)``."""
        content = yaml.safe_load(self.tiny.read_text())
        change(content["studies"]["sfg"])
        self.tiny.write_text(yaml.safe_dump(content))

    def metrics(self) -> dict[str, str]:
        """Checksum of every run's metrics, by run."""
        index = pd.read_csv(self.root / "results" / "tiny" / "runs.csv")
        return dict(zip(index["run"], index["checksum"], strict=True))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.new(tmp_path / "project")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Project:
    """What ``make`` makes in a new folder; workers of pytest-xdist, whose folders lie side by side, share it.

    Not to be changed by tests.
    """
    folder = factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / name).exists():
            make(folder / "unfinished" / name)
            (folder / "unfinished" / name).rename(folder / name)
    return Project(folder / name)


@pytest.fixture(scope="session")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A finished tiny reproduction."""
    return made_once(tmp_path_factory, "reproduction", lambda root: Project.new(root).finish("--cores", "2"))


@pytest.fixture
def finished(_finished: Project, tmp_path: Path) -> Project:
    """A copy of a finished tiny reproduction, to be changed at will."""
    return Project(shutil.copytree(_finished.root, tmp_path / "finished", symlinks=True))


def wait_for(condition, seconds: float = 300):
    """Wait until ``condition()`` is true; what it gave."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "timed out"
        time.sleep(0.02)
    return found


def kill_group(process: subprocess.Popen[str]) -> None:
    """SIGKILL a process and all its children, like a machine that loses power."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def outagefl(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the library in the project's folder."""
    command = [sys.executable, "-m", "outagefl", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(project.root / "workflow")}
    return subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True, check=False)
