"""Local training of the FedSWE study: CIFAR-10, 10 steps of SGD with batches of 128, augmented, gradients clipped."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cases.inputs import CIFAR10, even_partition, load_row, random_data, step_flops
from harness import Case
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from reference.data import Images, loader, transform
from reference.networks import Cnn
from reference.server import Client, State

MODEL = {"kind": "cnn", "channels": [32, 32], "hidden": [256, 64]}
TRAINING: dict[str, Any] = {"steps": 10, "batch_size": 128, "learning_rate": 0.05, "schedule": "inverse_sqrt"}
TRAINING |= {"clip_norm": 0.5, "order": "fresh", "augmentation": "image", "flip": True}
CLIENTS, IMAGES, ACTIVE = 100, 500, 2  # the study has about 30 clients a round, one after the other


class Both:
    """The same clients and the same initial model for both."""

    def __init__(self, clients: int, images: int, training: dict[str, Any]) -> None:
        shape, classes = CIFAR10
        data = random_data(shape, classes, clients * images, clients)
        partition = even_partition(data, clients)
        module = initial_model(MODEL, shape, classes, 0)
        self.trainer = LocalTrainer(module, data, partition, 0, torch.device("cpu"), **training)
        self.row = self.trainer.model.row()
        chain = transform(data.mean, data.std, training["augmentation"] != "none")
        stored, size = Images(data.x_train, data.y_train, chain), training["batch_size"]
        self.clients = [Client(Cnn(), loader(stored, own, size, drop_last=True)) for own in partition.train]
        self.state = self._state()
        self.training = training

    def _state(self) -> State:
        model = Cnn()
        load_row(model, self.row)
        return model.state_dict()

    def naive(self, active: int) -> list[State]:
        """Train the first clients; their models."""
        steps, rate, clip = (self.training[key] for key in ("steps", "learning_rate", "clip_norm"))
        return [client.train(self.state, steps, rate, clip) for client in self.clients[:active]]

    def ours(self, active: int) -> Tensor:
        """Train the first clients; their rows."""
        rows = self.row.repeat(active, 1)
        self.trainer.train(list(rows), np.arange(active), 1, np.zeros(active, dtype=np.int64))
        return rows


def case() -> Case:
    """Two clients of a round."""
    both = Both(CLIENTS, IMAGES, TRAINING)
    amount = ACTIVE * TRAINING["steps"] * step_flops(Cnn(), CIFAR10[0], TRAINING["batch_size"])
    what = f"FedSWE CNN, local training of {ACTIVE} clients, 10 steps of 128 images each"
    return Case(what, partial(both.naive, ACTIVE), partial(both.ours, ACTIVE), "gemm", amount)


def check() -> str:
    """Where draws have no influence, 60 images a client and no augmentation, both end with the same models."""
    both = Both(3, 60, {**TRAINING, "augmentation": "none"})
    rows = both.ours(3)
    naive = torch.stack([torch.cat([value.flatten() for value in state.values()]) for state in both.naive(3)])
    moved, apart = (float((rows - other).norm()) for other in (both.row, naive))
    if not 0 <= apart < 1e-3 * moved:
        raise AssertionError(f"models that moved by {moved} are {apart} apart")
    return f"after 10 steps models have moved by {moved:.3g} and are {apart:.1g} apart"
