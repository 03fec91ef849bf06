"""Kill a workflow again and again until it has finished, and see whether its results are those of an undisturbed one.

By hand, for all of ``quick``: ``python -m tests.workflow.chaos FOLDER REFERENCE --kills 30``. FOLDER: a copy of the
workflow where nothing was run (``git clone . FOLDER``); REFERENCE: results/ made by the same without interruption.

Every kill is SIGKILL and hits, by turns, all processes (a power cut), Snakemake alone (its jobs go on for a while,
beside the next Snakemake) and a single job. What has finished before its last kill is left alone.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.workflow import workspaces
from tests.workflow.conftest import Project, kill_group, wait_for

KINDS = EVERYTHING, SNAKEMAKE, JOB = "everything", "Snakemake alone", "a job"
PATIENCE = 1200  # seconds that a job may take


def finished_jobs(log: Path) -> int:
    """How many jobs a Snakemake has told to be finished."""
    return log.read_text(errors="replace").count("\nFinished jobid: ")


def wait_for_jobs(process: subprocess.Popen[str], log: Path, count: int) -> None:
    """Until so many jobs have finished, or Snakemake has ended."""
    wait_for(lambda: process.poll() is not None or finished_jobs(log) >= count, PATIENCE)


def scripts(group: int) -> list[int]:
    """The processes of a group that run the scripts of jobs."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(process.name)) == group and b".snakemake/scripts/" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def kill(process: subprocess.Popen[str], what: str, rng: random.Random) -> bool:
    """Kill something of this kind; whether there was something to kill."""
    jobs = scripts(process.pid)
    if process.poll() is not None or (what == JOB and not jobs):
        return False
    if what == JOB:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(jobs), signal.SIGKILL)
    elif what == SNAKEMAKE:
        process.kill()
        process.wait()
    else:
        kill_group(process)
    return True


def survive(
    start: Callable[[Path], subprocess.Popen[str]], logs: Path, kills: int, jobs: int, pause: float, rng: random.Random
) -> list[tuple[str, float]]:
    """Start a workflow until it has succeeded, and kill so many times: what, and the seconds until a job had finished.

    start: starts it in a process group of its own, with its output in the file. A kill comes after up to ``jobs`` more
    finished jobs and up to ``pause`` more seconds. Who was not harmed must succeed.
    """
    kinds = rng.sample(KINDS, len(KINDS))
    done: list[tuple[str, float]] = []
    hit: tuple[str, float] | None = None
    for number in range(2 * kills + 2):
        log = logs / f"chaos-{number}.log"
        process = start(log)
        harmed = False
        while process.poll() is None:
            before = finished_jobs(log)
            wait_for_jobs(process, log, before + 1)
            if hit and finished_jobs(log) > before:
                done.append((hit[0], time.monotonic() - hit[1]))
                hit = None
            if hit or len(done) >= kills:
                continue
            target = finished_jobs(log) + rng.randrange(jobs + 1)
            wait_for_jobs(process, log, target)
            with suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0, pause))
            what = kinds[len(done) % len(kinds)]
            if kill(process, what, rng):
                hit, harmed = (what, time.monotonic()), True
        if process.returncode == 0:
            return done + ([(hit[0], time.monotonic() - hit[1])] if hit else [])
        assert harmed, f"failed, though nobody harmed it: {log.read_text()[-5000:]}"
    raise AssertionError("not finished")


def differences(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    """The files that are not the same on both sides, or on one alone."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def main() -> None:
    """Run, tell what was survived, and exit with status 1 where results differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("reference", type=Path, help="results/ of the workflow that nobody disturbed")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=4, help="the most jobs that finish between two kills")
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)

    def start(log: Path) -> subprocess.Popen[str]:
        return Project(options.folder).start("--cores", "2", log=log.absolute(), scale=options.scale)

    began = time.monotonic()
    done = survive(start, options.folder, options.kills, options.jobs, 5, random.Random(options.seed))
    for what in KINDS:
        times = [seconds for hit, seconds in done if hit == what] or [float("nan")]
        told = f"{statistics.median(times):.0f} s (at most {max(times):.0f} s)"
        print(f"{what}: {sum(hit == what for hit, _ in done)} kills; until the next job had finished {told}")
    print(f"{len(done)} kills survived in {time.monotonic() - began:.0f} s")
    wrong = differences(
        workspaces.contents(Project(options.folder)), workspaces.contents(Project(options.reference.parent))
    )
    print(f"results: {'bit-identical' if not wrong else f'{len(wrong)} files differ: {wrong[:10]}'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
