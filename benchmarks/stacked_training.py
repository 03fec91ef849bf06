"""What a stack of models saves in local training, by hand: ``python benchmarks/stacked_training.py [cuda]``.

A line per network: milliseconds per client and round of three steps, with 11 clients that train one after the other and
as one stack; on a CPU the time that one core spends on it.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl.datasets.arrays import ImageData
from outagefl.inputs.partitions import Partition
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import StackedTrainer

CLIENTS, IMAGES, ROUNDS = 11, 300, 9
DIGITS, EMNIST, CIFAR10 = ((8, 8, 1), 10), ((28, 28, 1), 47), ((32, 32, 3), 10)
CASES: list[tuple[tuple[tuple[int, int, int], int], dict[str, Any]]] = [
    (DIGITS, {"kind": "mlp", "hidden": [32, 32], "dropout": 0.1}),
    (DIGITS, {"kind": "mlp", "hidden": [64, 64], "dropout": 0.1}),
    (DIGITS, {"kind": "cnn", "channels": [16, 32], "hidden": [64]}),
    (DIGITS, {"kind": "residual_cnn", "channels": [8, 16, 16], "hidden": [32], "dropout": 0.2}),
    (EMNIST, {"kind": "mlp", "hidden": [64, 64], "dropout": 0.1}),
    (EMNIST, {"kind": "mlp", "hidden": [256, 256], "dropout": 0.1}),
    (CIFAR10, {"kind": "residual_cnn", "channels": [64, 128, 128], "hidden": [256], "dropout": 0.2}),
]


def random_data(shape: tuple[int, int, int], classes: int) -> tuple[ImageData, Partition]:
    """As many random images for each client."""
    rng, count = np.random.default_rng(0), CLIENTS * IMAGES
    x, y = rng.integers(0, 256, (count, *shape), dtype=np.uint8), rng.integers(0, classes, count)
    names, half = tuple(map(str, range(classes))), (0.5,) * shape[2]
    parts = tuple(np.arange(count).reshape(CLIENTS, IMAGES))
    return ImageData(x, y, x, y, names, half, half, ""), Partition(parts, parts)


def milliseconds(trainer: LocalTrainer) -> float:
    """The median round's time per client."""
    rows, states = trainer.model.row().repeat(CLIENTS, 1), trainer.optimiser_states(CLIENTS)
    clients, times = np.arange(CLIENTS), []
    clock = time.process_time if trainer.device.type == "cpu" else time.perf_counter
    for done in range(ROUNDS):
        start = clock()
        trainer.train(list(rows), clients, done + 1, np.full(CLIENTS, done), list(states))
        times.append(clock() - start)
    return 1000 * float(np.median(times)) / CLIENTS


def main(device: torch.device) -> None:
    """Print a line per network."""
    torch.set_num_threads(1)
    training: dict[str, Any] = {"steps": 3, "batch_size": 64, "learning_rate": 1e-3, "optimiser": "adam"}
    for (shape, classes), model in CASES if device.type == "cuda" else CASES[:-1]:  # the last takes a CPU minutes
        data, partition = random_data(shape, classes)
        single, stacked = (
            milliseconds(kind(initial_model(model, shape, classes, 0), data, partition, 0, device, **training))
            for kind in (LocalTrainer, StackedTrainer)
        )
        print(f"{shape} {model}: {single:.2f} ms one by one, {stacked:.2f} ms stacked, {single / stacked:.2f} times")


if __name__ == "__main__":
    main(torch.device(*sys.argv[1:] or ["cpu"]))
