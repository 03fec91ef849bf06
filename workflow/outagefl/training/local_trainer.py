"""Local training and evaluation of clients, one after the other, in place on their rows of the model matrix."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from outagefl.datasets.arrays import ImageData
from outagefl.errors import TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.training.batches import fresh, persistent
from outagefl.training.images import ImageLoader
from outagefl.training.options import TrainingOptions
from outagefl.training.parameters import BoundModel
from outagefl.training.seeding import seeded, torch_seed

EVALUATION_BATCH = 128  # images; larger ones are no faster: their activations leave the cache


class LocalTrainer:
    """Trains clients by plain SGD on their own images and evaluates them on their own test images.

    What a client learns in a round depends on its row, the seed, the round and, in a persistent order, on how many
    rounds it has trained in; not on which other clients train.
    """

    def __init__(
        self,
        module: nn.Module,
        data: ImageData,
        partition: Partition,
        seed: int,
        device: torch.device,
        **training: Any,
    ) -> None:
        self.model = BoundModel(module.to(device))
        self.data, self.partition, self.seed, self.device = data, partition, seed, device
        self.options = TrainingOptions(**training)
        self._load = ImageLoader(data, device)
        self._drops = any(isinstance(layer, nn.Dropout) for layer in module.modules())

    def train(
        self, rows: Sequence[Tensor], clients: NDArray[np.int64], round_number: int, rounds_done: NDArray[np.int64]
    ) -> None:
        """Train the clients (k,) for ``steps`` steps each, in place on their models ``rows``, k tensors (d,).

        ``rounds_done`` (k,): the rounds each client has trained in before. The last bits may depend on where a row
        begins in memory, modulo 16 bytes: a tensor of its own or a client's fixed row of a matrix gives the same.

        Raises TrainingError when a client's loss is not finite.
        """
        self.model.module.train()
        losses = torch.empty(len(clients), self.options.steps, device=self.device)
        for i, (client, done) in enumerate(zip(clients.tolist(), rounds_done.tolist(), strict=True)):
            self._train_one(rows[i], client, round_number, done, losses[i])
        self._require_finite(losses, clients, f"training in round {round_number}")

    def evaluate(self, models: Tensor, clients: NDArray[np.int64], round_number: int) -> NDArray[np.float64]:
        """Accuracy (fraction) and mean cross-entropy (nats) of the clients (k,) on their own test images, as (2, k).

        Raises TrainingError when a client's loss is not finite.
        """
        results = torch.empty(len(clients), 2, dtype=torch.float64, device=self.device)
        for client, result in zip(clients.tolist(), results, strict=True):
            result[:] = self.measure(models[client], self.data.x_test, self.data.y_test, self.partition.test[client])
        self._require_finite(results, clients, f"evaluation after round {round_number}")
        return results.T.cpu().numpy()

    def measure(
        self, row: Tensor, x: NDArray[np.uint8], y: NDArray[np.int64], chosen: NDArray[np.int64] | None = None
    ) -> Tensor:
        """Accuracy and mean cross-entropy, float64 (2,), of one model ``row`` (d,) on images x with labels y.

        ``chosen``: indices of the images to measure on, all by default. A loss that is not finite is not an error here.
        """
        chosen = np.arange(len(y)) if chosen is None else chosen
        self.model.module.eval()
        self.model.bind(row)
        total = torch.zeros(2, dtype=torch.float64, device=self.device)
        with torch.inference_mode():
            for start in range(0, len(chosen), EVALUATION_BATCH):
                batch = chosen[start : start + EVALUATION_BATCH]
                logits, labels = self.model.module(self._load.plain(x, batch)), self._labels(y, batch)
                total[0] += (logits.argmax(dim=1) == labels).sum()
                total[1] += cross_entropy(logits, labels, reduction="sum")
        return total / len(chosen)

    def _batches(self, client: int, round_number: int, rounds_done: int) -> NDArray[np.int64]:
        own, steps, size = self.partition.train[client], self.options.steps, self.options.batch_size
        if self.options.order == "fresh":
            return fresh(own, steps, size, generator(self.seed, "batches", client, round_number))
        return persistent(own, steps, size, rounds_done * steps, partial(generator, self.seed, "order", client))

    def _train_one(self, row: Tensor, client: int, round_number: int, rounds_done: int, losses: Tensor) -> None:
        """Train one client and write its losses (steps,)."""
        chosen = self._batches(client, round_number, rounds_done)
        images = self._images(chosen, client, round_number)
        labels = self._labels(self.data.y_train, chosen.ravel())
        step_size, size = self.options.step_size(round_number), chosen.shape[1]
        self.model.bind(row)
        with self._dropout(client, round_number):
            for step, (x, y) in enumerate(zip(images.split(size), labels.split(size), strict=True)):
                loss = cross_entropy(self.model.module(x), y)
                loss.backward()
                self.model.sgd_step(step_size, self.options.clip_norm)
                losses[step] = loss.detach()

    def _images(self, batches: NDArray[np.int64], client: int, round_number: int) -> Tensor:
        """Training images of ``batches`` (steps, b), one after the other, (steps · b, C, H, W)."""
        if self.options.augmentation == "none":
            return self._load.plain(self.data.x_train, batches.ravel())
        rng = generator(self.seed, "augmentation", client, round_number)
        return self._load.augmented(self.data.x_train, batches, self.options.augmentation, self.options.flip, rng)

    def _labels(self, y: NDArray[np.int64], chosen: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(y[chosen]).to(self.device)

    def _dropout(self, client: int, round_number: int) -> AbstractContextManager[None]:
        """Within this context dropout is the client's own in this round."""
        if not self._drops:
            return nullcontext()
        return seeded(torch_seed(self.seed, "dropout", client, round_number), self.device)

    def _require_finite(self, values: Tensor, clients: NDArray[np.int64], when: str) -> None:
        broken = clients[~values.isfinite().all(dim=1).cpu().numpy()]
        if len(broken):
            raise TrainingError(
                f"client {broken[0]}: the loss is not finite at {when} "
                f"(learning_rate {self.options.learning_rate}; a smaller one may help)"
            )
