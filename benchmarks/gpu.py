"""What stacks, packs, kinds of convolution and precisions save in training: for a GPU, or a CPU, by hand.

    PYTHONPATH=workflow python benchmarks/gpu.py [--quick] [--device cpu] [--json FILE]

On a GPU it takes less than five minutes. Images are random, of the true shapes: nothing is downloaded. Printed as a
table and written as JSON, a row per measurement:

- ``trainer``: a round of all clients of a network, one by one and as a stack; ``ms`` per client and round (on a CPU of
  one core's time), ``gain`` over one by one in float32. ``off``: how far two models are from those trained one by one
  in float32, relative to how far training moved these: rounding, if the precision is float32.
- ``engine``: whole runs with all that an engine does around training, four after the other and four as a pack; ``ms``
  per run and round, ``gain`` of the pack.

``busy``: the share of the time in which the GPU computes, that is its kernels' time in a round (torch.profiler) over
the time of a round without the profiler. ``mb``: the most memory of the GPU in use. The aims are busy at 0.8 or more
and a gain of at least 10 for the CNN of FedSWE and the MLP of DFL-AA.

It settles ``stacked.WAYS``, which convolution on which device, and on a CPU ``stacked.STACKED_BELOW``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl.datasets.arrays import ImageData
from outagefl.engines import events, server
from outagefl.inputs.partitions import Partition
from outagefl.training import stacked
from outagefl.training.convolutions import KINDS
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.pack import Pack
from outagefl.training.precision import PRECISIONS, set_tf32
from outagefl.training.stacked import StackedTrainer

SECONDS, SLOW = 2.0, 10.0  # the least time that is measured; a round of this length is not played again
RUNS = 4
DIGITS, EMNIST, CIFAR10 = ((8, 8, 1), 10), ((28, 28, 1), 47), ((32, 32, 3), 10)


@dataclass(frozen=True)
class Case:
    """A network with its data's shape and its training, for this many clients."""

    data: tuple[tuple[int, int, int], int]
    model: dict[str, Any]
    training: dict[str, Any]
    clients: int = 100

    @property
    def convolves(self) -> bool:
        """Whether the kind of convolution matters."""
        return bool(self.model["kind"] != "mlp")


FEDSWE = {"steps": 10, "batch_size": 128, "learning_rate": 0.05, "clip_norm": 0.5, "augmentation": "image"}
ADAM = {"steps": 3, "batch_size": 64, "learning_rate": 1e-3, "optimiser": "adam", "order": "whole_epochs"}
MOMENTUM = {"steps": 3, "batch_size": 64, "learning_rate": 0.01, "momentum": 0.9, "order": "whole_epochs"}
CASES = {
    "cnn": Case(CIFAR10, {"kind": "cnn", "channels": [32, 32], "hidden": [256, 64]}, FEDSWE),
    "mlp": Case(EMNIST, {"kind": "mlp", "hidden": [256, 256], "dropout": 0.1}, ADAM),
    "residual": Case(
        CIFAR10, {"kind": "residual_cnn", "channels": [64, 128, 128], "hidden": [256], "dropout": 0.2}, MOMENTUM, 20
    ),
    "resnet18": Case(CIFAR10, {"kind": "resnet18"}, MOMENTUM, 8),
    "small_mlp": Case(DIGITS, {"kind": "mlp", "hidden": [32, 32], "dropout": 0.1}, ADAM),
    "middle_mlp": Case(EMNIST, {"kind": "mlp", "hidden": [64, 64], "dropout": 0.1}, ADAM),
    "small_cnn": Case(DIGITS, {"kind": "cnn", "channels": [16, 32], "hidden": [64]}, ADAM),
}


def smaller(case: Case) -> Case:
    """The case for a first try, or for a CPU."""
    large = case.model["kind"] in ("residual_cnn", "resnet18")
    training = case.training | {"steps": 1 if large else 2, "batch_size": 4 if large else 16}
    return replace(case, training=training, clients=2 if large else 6)


def random_data(case: Case) -> tuple[ImageData, Partition]:
    """500 training images for each client and 100 test images for each, measured on by all."""
    (shape, classes), rng = case.data, np.random.default_rng(0)
    count = 500 * case.clients
    x, y = rng.integers(0, 256, (count, *shape), dtype=np.uint8), rng.integers(0, classes, count)
    names, half = tuple(map(str, range(classes))), (0.5,) * shape[2]
    test = count // 5
    parts = tuple(np.arange(count).reshape(case.clients, -1))
    return ImageData(x, y, x[:test], y[:test], names, half, half, ""), Partition(parts, (np.arange(50),) * len(parts))


class Clock:
    """Times what a device does."""

    def __init__(self, device: torch.device) -> None:
        self.gpu = device.type == "cuda"

    def now(self) -> float:
        """Seconds, when all that was asked for is done; on a CPU those of one core."""
        if not self.gpu:
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()

    def measure(self, work: Callable[[], None], seconds: float) -> dict[str, float | None]:
        """The median ``time`` of doing the work, after once to warm up; ``busy`` and ``mb`` on a GPU.

        Three times and for so many seconds, less often if once takes longer; the warm-up counts if it takes SLOW.
        """
        if self.gpu:
            torch.cuda.reset_peak_memory_stats()
        times: list[float] = []
        while not times or (
            times[0] < SLOW and (len(times) < 2 or (times[-1] < seconds and (len(times) < 4 or sum(times) < seconds)))
        ):
            start = self.now()
            work()
            times.append(self.now() - start)
        found: dict[str, float | None] = {"time": float(np.median(times[1:] or times)), "busy": None, "mb": None}
        if self.gpu:
            found["mb"] = round(torch.cuda.max_memory_allocated() / 2**20)
        if self.gpu and times[0] < SLOW:
            with profile(activities=[ProfilerActivity.CUDA]) as profiler:
                work()
                torch.cuda.synchronize()
            kernels = (e for e in profiler.events() if str(e.device_type) == "DeviceType.CUDA")
            found["busy"] = round(1e-6 * sum(e.time_range.elapsed_us() for e in kernels) / float(found["time"] or 1), 3)
        return found


def make(
    kind: type[LocalTrainer], case: Case, given: tuple[ImageData, Partition], device: torch.device
) -> LocalTrainer:
    """A trainer for the case."""
    return kind(initial_model(case.model, *case.data, 0), *given, 0, device, **case.training)


def trained(trainer: LocalTrainer, start: torch.Tensor) -> torch.Tensor:
    """What becomes of the model ``start`` (d,) at two clients in a round, (2, d)."""
    rows = start.repeat(2, 1)
    trainer.train(list(rows), np.arange(2), 1, np.zeros(2, dtype=np.int64))
    return rows


def trainers(name: str, case: Case, device: torch.device, seconds: float) -> list[dict[str, Any]]:
    """Rows on training one by one and as a stack."""
    clock, given = Clock(device), random_data(case)
    few = min(case.clients, 10)  # one by one every client takes as long as the others
    rows: list[dict[str, Any]] = []
    alone = make(LocalTrainer, case, given, device)
    start = alone.model.row()
    expected = trained(alone, start)

    def add(how: str, convolution: str | None, precision: str, trainer: LocalTrainer, clients: int) -> None:
        states = trainer.optimiser_states(clients)
        models = start.repeat(clients, 1)
        rounds = iter(range(1_000_000))

        def play() -> None:
            done = next(rounds)
            trainer.train(list(models), np.arange(clients), done + 1, np.full(clients, done), list(states))

        found = clock.measure(play, seconds)
        milliseconds = 1000 * float(found.pop("time") or 0) / clients
        rows.append(
            {"part": "trainer", "case": name, "how": how, "convolution": convolution, "precision": precision}
            | {"ms": round(milliseconds, 3), "gain": round(rows[0]["ms"] / milliseconds, 2) if rows else 1.0}
            | found
            | {"off": float(f"{float((trained(trainer, start) - expected).norm() / (expected - start).norm()):.2g}")}
        )
        print_row(rows[-1])

    for precision in PRECISIONS if device.type == "cuda" else PRECISIONS[:1]:
        precise = replace(case, training=case.training | {"precision": precision})
        add("one by one", None, precision, make(LocalTrainer, precise, given, device), few)
        for convolution in KINDS if case.convolves else KINDS[:1]:
            stacked.WAYS[device.type] = replace(stacked.WAYS[device.type], convolution=convolution)
            shown = convolution if case.convolves else None
            add("stack", shown, precision, make(StackedTrainer, precise, given, device), case.clients)
    return rows


def server_run(case: Case, given: tuple[ImageData, Partition], rounds: int, device: str, seed: int) -> None:
    """A run of FedAvg with four of five clients available."""
    evaluation = {"every": rounds, "last": 0, "train_images": 1000}
    spec = {"seed": seed, "clients": case.clients, "rounds": rounds, "model": case.model, "training": case.training}
    spec |= {"server_learning_rate": 1.0, "head_init": "kaiming", "evaluated": "global", "evaluation": evaluation}
    spec["rule"] = {"kind": "fedavg_active"}
    available = np.random.default_rng(seed).random((rounds, case.clients)) < 0.8
    server.run(spec, *given, available, lambda *_: None, device)


def events_run(case: Case, given: tuple[ImageData, Partition], rounds: int, device: str, seed: int) -> None:
    """A run of DFL-AA on a graph in which everybody sends to three others, all once a second."""
    rule = {"kind": "dflaa", "tau": 5, "beta": 0.05, "c_min": 0.1, "q_floor": 0.05, "update_on": "reception"}
    spec = {"seed": seed, "clients": case.clients, "horizon": rounds - 0.5, "model": case.model}
    spec |= {"training": case.training, "init": "pytorch", "channel": {"kind": "bernoulli"}, "chunk": 350, "rule": rule}
    spec |= {"fill_at": "aggregation", "exchange": "all", "evaluation": {"every": rounds - 1, "clock": "seconds"}}
    graph = np.array([[i, (i + jump) % case.clients] for i in range(case.clients) for jump in (1, 2, 3)])
    speeds, losses = np.ones(case.clients), np.full(len(graph), 0.1)
    events.run(spec, *given, graph, losses, speeds, lambda *_: None, device)


def engines(name: str, case: Case, device: torch.device, rounds: int, play: Any) -> list[dict[str, Any]]:
    """Rows on whole runs, one after the other and packed."""
    clock, given = Clock(device), random_data(case)
    runs = [partial(play, case, given, rounds, device.type, seed) for seed in range(RUNS)]

    def apart() -> None:
        for run in runs:
            run()

    def packed() -> None:
        for error in Pack(RUNS).play(runs):
            if error is not None:
                raise error

    rows: list[dict[str, Any]] = []
    for how, work in ((f"{RUNS} apart", apart), (f"{RUNS} packed", packed)):
        found = clock.measure(work, 0)
        milliseconds = 1000 * float(found.pop("time") or 0) / RUNS / rounds
        gain = round(rows[0]["ms"] / milliseconds, 2) if rows else 1.0
        convolution = stacked.WAYS[device.type].convolution if case.convolves else None
        row = {"part": "engine", "case": name, "how": how, "convolution": convolution, "precision": "float32"}
        rows.append(row | {"ms": round(milliseconds, 2), "gain": gain} | found | {"off": None})
        print_row(rows[-1])
    return rows


COLUMNS = ("part", "case", "how", "convolution", "precision", "ms", "gain", "busy", "mb", "off")
WIDTHS = (8, 11, 11, 12, 10, 11, 8, 7, 8, 10)


def print_row(row: dict[str, Any]) -> None:
    """Print a line of the table at once."""
    cells = ("-" if row[column] is None else str(row[column]) for column in COLUMNS)
    print(*(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)), flush=True)


def main() -> None:
    """Measure everything, print a line each, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small stacks and batches, to try it out")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", type=Path, default=Path("results/benchmarks/gpu.json"), metavar="FILE")
    options = parser.parse_args()
    device = torch.device(options.device)
    torch.set_num_threads(1)
    torch.backends.cudnn.deterministic = True  # as in runs
    set_tf32(False)
    begin, ways = time.monotonic(), dict(stacked.WAYS)
    seconds = 0 if options.quick else SECONDS
    cases = {name: smaller(case) if options.quick else case for name, case in CASES.items()}
    name = torch.cuda.get_device_name() if device.type == "cuda" else "cpu"
    print(f"{name}, torch {torch.__version__}")
    print_row(dict(zip(COLUMNS, COLUMNS, strict=True)))
    rows = []
    for each, case in cases.items():
        rows += trainers(each, case, device, seconds)
        stacked.WAYS.update(ways)
    for each, play in (("cnn", server_run), ("mlp", events_run)):
        if device.type == "cpu":  # play what a GPU does; on a CPU there are no packs
            stacked.WAYS["cpu"] = stacked.WAYS["cuda"]
            for engine in (server, events):
                setattr(engine, "trainer_class", lambda *_, **__: StackedTrainer)  # noqa: B010
        rows += engines(each, cases[each], device, 2 if options.quick else 4, play)
    took = round(time.monotonic() - begin)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    record = {"device": name, "torch": torch.__version__, "quick": options.quick, "seconds": took, "rows": rows}
    options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{took} s; written to {options.json}")


if __name__ == "__main__":
    main()
