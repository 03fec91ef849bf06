"""What the workflow itself takes per job, by hand: ``python benchmarks/orchestration.py FOLDER [KEY=VALUE …]``.

A copy of the workflow is made in FOLDER (a new one) where making inputs and training are stubs that take a moment:
empty inputs, and metrics that were drawn at random beforehand, as large as real ones. Then Snakemake makes all indexes
at scale ``paper`` with all studies, through its real local scheduler on two cores; KEY=VALUE are more keys of the
configuration, such as ``runs_per_job=5``. Every Python process that a job starts notes when it began and ended, so what
is left of wall time × cores is the workflow's own:

    orchestration per job = ((wall − start-up) × cores − wall time of the jobs' processes) / jobs

Start-up is the time until the first process begins: reading the configuration, planning, Snakemake's DAG. The same is
told in processor time, which other work on the machine changes little. With ``--rest`` all tables, figures, claims and
the report are then made from the drawn runs by the real scripts.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl import config
from outagefl.engines import gossip, server
from outagefl.engines.metrics import tidy
from outagefl.runs.plan import Run, make_plan
from outagefl.sources.catalog import sources

ROOT = Path(__file__).parents[1]
CORES = 2
NOTES = "notes.csv"  # what processes note at their end
EVENT_METRICS = ("accuracy", "loss", "age", "reception_rate", "consensus_distance")
TRAIN = """import json, os, time
from outagefl.provenance.records import circumstances, sealed
with open(f"results/.jobs/{snakemake.wildcards.job}.json") as job:
    for path, run in json.load(job).items():
        os.renames(f"drawn/{path}", f"results/{path}")
        choice = run["inputs"].get("choice")
        with open(f"results/{path}/run.json", "w") as record:
            chosen = json.load(open(f"results/{choice}")) if choice else None
            made = {"spec": run["spec"], "data_note": "", "choice": chosen, "device": "stub", "code": {}, "from": {}}
            made |= {"made": {f"results/{path}/metrics.parquet": ""}, **circumstances(time.time())}
            json.dump(sealed(made), record)
"""
TOUCH = """import os
for path in snakemake.output:
    os.makedirs(path) if "inputs/dataset/" in path else open(path, "w").close()
"""
# Loaded by every Python process that finds it.
WATCH = """import atexit, os, time
def note():
    with open("/proc/self/stat") as stat:
        began = int(stat.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    with open("/proc/self/status") as status:
        [peak] = [line.split()[1] for line in status if line.startswith("VmHWM")]
    used = sum(os.times()[:2])
    with open(NOTES, "a") as notes:
        notes.write(f"{began},{time.clock_gettime(time.CLOCK_BOOTTIME)},{used},{peak}\\n")
atexit.register(note)
"""


def drawn(run: Run) -> Any:
    """Metrics as a run of this spec would have them, of random values: (rounds or evaluations, clients or nodes)."""
    spec, rng = run.spec, np.random.default_rng()
    events = "horizon" in spec
    times = int(spec["horizon"] // spec["evaluation"]["every"]) if events else spec["rounds"]
    evaluated = np.arange(1, times + 1) % (1 if events else spec["evaluation"]["every"]) == 0
    evaluated[-1] = True
    whole = spec["study"] == "fedswe"
    names = EVENT_METRICS if events else server.METRICS if whole else gossip.METRICS
    values = {name: rng.random(times if whole else (times, spec["clients"])).round(2) for name in names}
    for name in values.keys() & {"accuracy", "loss", "train_accuracy", "train_loss", "consensus_error"}:
        values[name][~evaluated] = np.nan
    if whole:
        values["diverged"][:] = 0
    return tidy(values, np.arange(1.0, times + 1) * (spec["evaluation"]["every"] if events else 1))


def prepare(folder: Path, keys: list[str]) -> list[str]:
    """Copy the workflow with stubs, draw all runs; the arguments for Snakemake."""
    folder.mkdir(parents=True)
    for name in ("config", "workflow", "profiles", "report", "envs"):
        shutil.copytree(ROOT / name, folder / name)
    scripts = folder / "workflow" / "scripts"
    (scripts / "train.py").write_text(TRAIN)
    for name in ("input.py", "download.py"):
        (scripts / name).write_text(TOUCH)
    (folder / "workflow" / "sitecustomize.py").write_text(WATCH.replace("NOTES", repr(str(folder / NOTES))))
    studies = sorted(path.stem for path in (ROOT / "config" / "studies").glob("*.yaml"))
    keys = ["scale=paper", f"studies=[{','.join(studies)}]", *keys]
    settings = config.read_yaml(ROOT / "config" / "config.yaml") | {"scale": "paper", "studies": studies}
    plan = make_plan(config.load(settings, ROOT / "config"), sources(ROOT / "config" / "sources.yaml", {}))
    for path, run in plan.runs.items():
        made = folder / "drawn" / path
        made.mkdir(parents=True)
        drawn(run).to_parquet(made / "metrics.parquet", index=False, compression="zstd")
    return ["--cores", str(CORES), "--config", *keys]


@dataclass(frozen=True)
class Process:
    """A Python process: seconds since the machine started, processor time without its children, peak in KB."""

    began: float
    ended: float
    used: float
    peak: float


def snakemake(folder: Path, log: str, *arguments: str) -> tuple[Process, list[Process], float]:
    """Run Snakemake in the folder: its own process, those of its jobs, and the processor time of all of them."""
    (folder / NOTES).unlink(missing_ok=True)
    command = [str(Path(sys.executable).parent / "snakemake"), *arguments]
    with (folder / log).open("w") as output:
        environment = os.environ | {"PYTHONPATH": str(folder / "workflow")}
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed: {folder / log}")
    rows = (folder / NOTES).read_text().splitlines()
    *jobs, main = (Process(*map(float, row.split(","))) for row in rows)  # Snakemake ends last
    return main, jobs, used.ru_utime + used.ru_stime


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--rest", action="store_true", help="then make tables, figures, claims and the report")
    options = parser.parse_args()
    folder = options.folder.resolve()
    settings = prepare(folder, options.keys)

    plan, _, used = snakemake(folder, "dry-run.log", "-n", *settings)
    print(
        f"dry run: {plan.ended - plan.began:.1f} s, {used:.1f} s of processor time, {plan.peak / 1024:.0f} MB",
        flush=True,
    )

    run, processes, used = snakemake(folder, "run.log", *settings[:2], "results/paper/runs.csv", *settings[2:])
    [jobs] = re.findall(r"(\d+) of \1 steps \(100%\) done", (folder / "run.log").read_text())
    each = 1000 / int(jobs)
    startup = min(process.began for process in processes) - run.began
    busy = sum(process.ended - process.began for process in processes)
    computing = sum(process.used for process in processes)
    wall = run.ended - run.began
    print(f"{jobs} jobs: {wall:.0f} s, of which start-up {startup:.1f} s; Snakemake {run.peak / 1024:.0f} MB")
    print(f"the jobs' processes: {busy * each:.0f} ms a job, {computing * each:.0f} ms of processor time")
    print(f"orchestration: {((wall - startup) * CORES - busy) * each:.0f} ms a job;", end=" ")
    print(f"{(used - computing) * each:.0f} ms of processor time, with start-up", flush=True)
    if options.rest:
        run, processes, used = snakemake(folder, "rest.log", *settings)
        peak = max(process.peak for process in processes)
        print(
            f"the rest: {run.ended - run.began:.0f} s, {used:.0f} s of processor time; "
            f"a job at most {peak / 1024:.0f} MB"
        )
        size = (folder / "results" / "paper" / "report.html").stat().st_size / 1e6
        print(f"report.html: {size:.1f} MB")


if __name__ == "__main__":
    main()
