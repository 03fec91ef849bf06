"""Record what training costs on this machine, for ``make estimate``: ``make costs [SCALE=…] [CONFIG="device=cuda"]``.

Measures, for every kind of training that the configuration plans, with one thread and on random images: milliseconds a
step and an evaluated image, and the memory of a process that does both; beside these the start of a job and of a run,
and what engines do beside training, a round (or activation) and a number of a mixed model. On a CPU times are those
that one core spends, which are longer while others keep the machine busy. Writes the section ``cpu`` or ``cuda`` of the
file; what it has of the same device and version of torch from other configurations stays.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from textwrap import indent
from typing import Any

import numpy as np
import torch
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl.config import check, given, read_yaml
from outagefl.datasets.arrays import ImageData
from outagefl.engines import event_simulation, gossip, server
from outagefl.errors import OutageflError
from outagefl.estimate.costs import kind
from outagefl.estimate.inputs import published_images
from outagefl.files import replacing
from outagefl.inputs.channel import bernoulli
from outagefl.inputs.partitions import Partition
from outagefl.inputs.topology import directed_erdos_renyi
from outagefl.rules.gossip import dfedavg
from outagefl.rules.inbox import swift_adaptive
from outagefl.rules.server import fedavg_active
from outagefl.runs.batch import train
from outagefl.runs.configured import configured
from outagefl.runs.expand import canonical
from outagefl.runs.plan import Plan, add_run, make_input
from outagefl.sources.catalog import Source
from outagefl.training.allocator import keep_freed_memory
from outagefl.training.devices import resolve
from outagefl.training.initial import initial_model
from outagefl.training.stacked import trainer_class

ENOUGH = 0.5  # seconds that a measurement takes at least
MEASURED = 512  # images that models are measured on
SMALL, LARGE, CLIENTS, ROUNDS = 10, 200_000, 40, 20_000  # of the engines: numbers of a model, who exchanges them
HEADER = "# What training costs on a machine, for `make estimate`; recorded by `make costs` (benchmarks/costs.py).\n"
WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
TINY: dict[str, Any] = {  # a run of which little is training
    **{"study": "sfg", "engine": "gossip", "seed": 0, "clients": 2, "rounds": 1, "order": "train_then_mix"},
    "returning": "trains_and_mixes",
    "dataset": {"kind": "digits"},
    "partition": {"kind": "dirichlet", "alpha": 1.0, "test_images": 1},
    "topology": {"kind": "complete"},
    "availability": {"kind": "always"},
    "model": {"kind": "cnn", "channels": [], "hidden": [4]},
    "training": {"steps": 1, "batch_size": 1, "learning_rate": 0.01},
    "evaluation": {"every": 1},
    "rule": {"kind": "local"},
}


class Idle:
    """Local training that does nothing."""

    stacks = False

    def train(self, *_: object) -> None:
        """Leave all models as they are."""


def seconds(call: Callable[[], object], device: torch.device) -> float:
    """The median time of a call: of one that takes long, or of several after a first one."""

    def once() -> float:
        clock = time.process_time if device.type == "cpu" else time.perf_counter
        start = clock()
        call()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return clock() - start

    times = [once()]
    if times[0] < 10 * ENOUGH:
        times = []
        while len(times) < 3 or sum(times) < ENOUGH:
            times.append(once())
    return median(times)


def of_training(spec: dict[str, Any], images: dict[str, Any], device: torch.device) -> dict[str, float]:
    """Milliseconds a step and an evaluated image of a spec's training, and the megabytes of this process after both."""
    keep_freed_memory()
    torch.set_num_threads(1)
    shape, classes = tuple(images["shape"]), images["classes"]
    module = initial_model(spec["model"], shape, classes, 0)
    trainers = trainer_class(module, device, small=spec["engine"] == "events")
    together = 2 if trainers.stacks else 4  # clients are stacked if their batches have equal sizes, which is rare
    wanted = spec["training"]["steps"]
    steps = 1 if sum(parameter.numel() for parameter in module.parameters()) > 2_000_000 else wanted
    options = {**spec["training"], "unit": "batches", "steps": steps}
    own = steps * options["batch_size"]
    rng, count = np.random.default_rng(0), together * own + MEASURED
    x, y = rng.integers(0, 256, (count, *shape), dtype=np.uint8), rng.integers(0, classes, count)
    half = (0.5,) * shape[2]
    data = ImageData(x, y, x, y, tuple(map(str, range(classes))), half, half, "")
    parts = tuple(np.arange(together * own).reshape(together, own))
    trainer = trainers(module, data, Partition(parts, parts), 0, device, **options)
    rows, clients = trainer.model.row().repeat(together, 1), np.arange(together)
    states, done = trainer.optimiser_states(together), np.zeros(together, dtype=np.int64)
    step = seconds(lambda: trainer.train(list(rows), clients, 1, done, list(states)), device) / (together * steps)
    chosen = np.arange(min(MEASURED, spec["partition"].get("test_images", MEASURED)))
    image = seconds(lambda: trainer.measure_many(list(rows), x, y, chosen), device) / (together * len(chosen))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    return {"step_ms": 1000 * step, "image_ms": 1000 * image, "memory_mb": peak}


def gossip_turn(length: int, device: torch.device) -> float:
    """Seconds of a round of synchronous gossip on a ring in which everybody is online."""
    everyone = np.ones(CLIENTS, dtype=bool)
    state = gossip.start(torch.zeros(length, device=device), CLIENTS, ROUNDS)
    apart = np.abs(np.arange(CLIENTS)[:, None] - np.arange(CLIENTS))
    neighbours = (apart == 1) | (apart == CLIENTS - 1)
    rest = (Idle(), neighbours, everyone, "train_then_mix", "trains_and_mixes")
    return seconds(lambda: gossip.advance(state, dfedavg.scores, *rest), device)  # type: ignore[arg-type]


def server_turn(length: int, device: torch.device) -> float:
    """Seconds of a client–server round in which everybody is online."""
    state = server.start(torch.zeros(length, device=device), {}, CLIENTS, ROUNDS)
    everyone = np.ones(CLIENTS, dtype=bool)
    return seconds(lambda: server.advance(state, fedavg_active.step, Idle(), everyone, None, 1.0), device)


def events_turn(length: int, device: torch.device) -> float:
    """Seconds of an activation in event-driven gossip; every node hears four others."""
    edges = directed_erdos_renyi.edges(CLIENTS, np.random.default_rng(0), degree=4, cycle=False)
    targets = tuple({int(target): 0.1 for source, target in edges if source == node} for node in range(CLIENTS))
    network = event_simulation.Network(targets, bernoulli.received, 350, length, "aggregation", 0)
    states = torch.zeros(CLIENTS, 0, length, device=device)
    state = event_simulation.start(torch.zeros(length, device=device), states, swift_adaptive.memory(CLIENTS))
    idle: Any = Idle()
    events = event_simulation.play(state, network, swift_adaptive.weights, idle, np.ones(CLIENTS), np.inf)
    for _ in range(2 * CLIENTS):  # until all inboxes are full
        next(events)
    return seconds(lambda: [next(events) for _ in range(CLIENTS)], device) / CLIENTS


def of_engines(device: torch.device) -> dict[str, dict[str, float]]:
    """Milliseconds a round or activation, and nanoseconds a number of a mixed model, by engine."""
    keep_freed_memory()
    torch.set_num_threads(1)
    mixed = {"gossip": (gossip_turn, 3 * CLIENTS), "server": (server_turn, CLIENTS), "events": (events_turn, 5)}
    turn, number = {}, {}
    for engine, (measure, rows) in mixed.items():
        small, large = measure(SMALL, device), measure(LARGE, device)
        turn[engine] = 1e3 * small
        number[engine] = 1e9 * (large - small) / (rows * (LARGE - SMALL))
    return {"turn_ms": turn, "number_ns": number}


def of_start(device: torch.device) -> dict[str, float]:
    """Seconds until a job has loaded what it needs, and of a run beside rounds: inputs, first model, results."""
    imports = "import snakemake.script, outagefl.runs.batch, outagefl.engines.gossip, outagefl.rules.gossip.sfg"
    environment = {"PYTHONPATH": str(Path(__file__).parents[1] / "workflow")}

    def spent() -> float:
        return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in WHO)

    before = spent()
    for _ in range(3):
        subprocess.run([sys.executable, "-c", imports], check=True, env=environment)
    job = (spent() - before) / 3
    with tempfile.TemporaryDirectory() as folder:
        root, plan = Path(folder), Plan()
        run = plan.runs[add_run(plan, {"digits": Source("digits", {"bundled": True})}, TINY)]
        for path, made in plan.inputs.items():
            needs = {name: root / need for name, need in made.needs.items()}
            make_input(made.what, made.spec, needs, root / path)
        train("first", run, root, device.type)
        before = spent()
        train("second", run, root, device.type)
        return {"job_s": job, "run_s": spent() - before}


def rounded(content: Any) -> Any:
    """Numbers with three digits."""
    if isinstance(content, dict):
        return {key: rounded(value) for key, value in content.items()}
    return float(f"{content:.3g}") if isinstance(content, float) else content


def processor() -> str:
    """The name of the CPU."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> None:
    """Measure what the configuration plans."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="YAML file to write, e.g. results/costs.yaml")
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="as for Snakemake")
    arguments = parser.parse_args()
    try:
        settings, plan = configured(given(arguments.config))
        device = resolve(settings["device"])
        found: dict[str, Any] = {}
        for run in plan.runs.values():
            images = published_images(plan.sources[run.spec["dataset"]["kind"]])
            found.setdefault(canonical(kind(run.spec, images)), (run.spec, images))
        record(arguments.file, device, found)
    except OutageflError as error:
        sys.exit(f"outagefl: {error}")


def record(file: Path, device: torch.device, found: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Measure the kinds of training ``found``, spec and images of each, and write each into the file at once."""
    content = read_yaml(file) if file.exists() else {}
    check(content, "costs", str(file))
    section = {
        "device": processor() if device.type == "cpu" else torch.cuda.get_device_name(),
        "torch": str(torch.__version__),
        "date": datetime.now(UTC).date().isoformat(),
    }
    before = content.get(device.type, {})
    same = before and all(before[key] == section[key] for key in ("device", "torch"))
    networks = {_kind_of(each): each for each in before["networks"]} if same else {}
    section |= rounded({**of_start(device), **of_engines(device)})
    # a process of its own for each, so that one's memory is not counted for the next
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for key, (spec, images) in found.items():
            measured = rounded(pool.submit(of_training, spec, images, device).result())
            networks[key] = {**kind(spec, images), **measured}
            print(
                yaml.safe_dump(networks[key], sort_keys=False, default_flow_style=True, width=10**6), end="", flush=True
            )
            content[device.type] = {**section, "networks": [networks[key] for key in sorted(networks)]}
            with replacing(file) as new:
                new.write_text(HEADER + "".join(map(written, content, content.values())), encoding="utf-8")
    print(file)


def written(device: str, section: dict[str, Any]) -> str:
    """A section of the file, a line a network."""
    rest = yaml.safe_dump({key: value for key, value in section.items() if key != "networks"}, sort_keys=False)
    networks = (
        yaml.safe_dump(each, sort_keys=False, default_flow_style=True, width=10**6) for each in section["networks"]
    )
    return f"{device}:\n{indent(rest, '  ')}  networks:\n{''.join(f'  - {line}' for line in networks)}"


def _kind_of(network: dict[str, Any]) -> str:
    return canonical({key: value for key, value in network.items() if not key.endswith(("_ms", "_mb"))})


if __name__ == "__main__":
    main()
