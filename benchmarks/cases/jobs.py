"""A training job in a fresh process, as the workflow starts it: seconds to the first batch, and peak memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cases.inputs import CIFAR10, even_partition, random_data
from cases.runs import CNN, gossip_spec, online, regular
from outagefl.datasets import arrays
from outagefl.files import write_json
from outagefl.inputs import availabilities, graphs, partitions
from outagefl.runs.jobs import job_file
from outagefl.runs.plan import Run, run_path
from outagefl.training.initial import initial_model

TRAIN, TEST = 50_000, 6_000  # images: CIFAR-10 with fewer to be tested on
TIMES = 5

IMPORTS = """
import json, os, sys, time
from pathlib import Path
from outagefl.runs.batch import train_missing
from outagefl.runs.jobs import read_job

def tell(**found):
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    print(json.dumps({"cpu": time.process_time(), "peak": peak, **found}), flush=True)
"""
TRAINING = """
root = Path(sys.argv[1])
train_missing(read_job(root, "job"), root, "cpu")
tell()
"""
TO_FIRST_BATCH = """
from torch.nn.modules.module import register_module_forward_pre_hook

def arrived(*_):
    tell()
    os._exit(0)

register_module_forward_pre_hook(arrived)
"""
IMPORT_TORCH = "import torch, json, time; print(json.dumps({'cpu': time.process_time()}))"


def plan_job(root: Path, spec: dict[str, Any]) -> None:
    """A job of one run below ``root``, with its inputs; everyone is online."""
    shape, classes = CIFAR10
    data = random_data(shape, classes, TRAIN, TEST)
    names = ("dataset", "partition.npz", "topology.npz", "availability.npy")
    train, test = (data.x_train, data.y_train), (data.x_test, data.y_test)
    arrays.save(root / names[0], "random", train, test, classes=data.classes)
    partitions.save(root / names[1], even_partition(data, spec["clients"]))
    graphs.save(root / names[2], regular(spec["clients"]), spec["clients"])
    availabilities.save(root / names[3], online(spec["rounds"], spec["clients"], share=1))
    run = Run(spec, {name.split(".")[0]: name for name in names})
    write_json(job_file(root, "job"), {run_path(run): asdict(run)})


def fresh(script: str, root: str) -> dict[str, float]:
    """What the last line tells that a script prints in a new process, and the ``wall`` seconds until it ends."""
    paths = os.pathsep.join([str(Path(__file__).parents[2] / "workflow"), os.environ.get("PYTHONPATH", "")])
    command, environment = [sys.executable, "-c", script, root], {**os.environ, "PYTHONPATH": paths}
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": time.perf_counter() - start}


def startup() -> dict[str, float]:
    """Medians, of a job of 100 clients and of torch's import alone; the first of each is not counted."""
    scripts = {
        "training job to its first batch": IMPORTS + TO_FIRST_BATCH + TRAINING,
        "import torch alone": IMPORT_TORCH,
    }
    found = {}
    with tempfile.TemporaryDirectory() as root:
        plan_job(Path(root), gossip_spec(100, 200, CNN))
        for what, script in scripts.items():
            told = [fresh(script, root) for _ in range(TIMES + 1)][1:]
            for kind in ("wall", "cpu"):
                found[f"{what}, {kind} s"] = statistics.median(one[kind] for one in told)
    return found


def memory() -> dict[str, float]:
    """Of a gossip run of 300 clients that take a step in each of two rounds: how much they train changes no peak."""
    clients = 300
    with tempfile.TemporaryDirectory() as root:
        plan_job(Path(root), gossip_spec(clients, 2, CNN, steps=1))
        imported, run = fresh(IMPORTS + "tell()", root)["peak"], fresh(IMPORTS + TRAINING, root)["peak"]
        needed = sum(file.stat().st_size for file in (Path(root) / "dataset").glob("*.npy"))
    needed += 4 * clients * sum(p.numel() for p in initial_model(CNN, *CIFAR10, 0).parameters())
    return {
        "models and data map, MB": needed / 1e6,
        "peak resident memory, MB": run / 1e6,
        "of which there after the imports, MB": imported / 1e6,
        "peak / (models and data map)": run / needed,
        "the same without what is there after the imports": (run - imported) / needed,
    }
