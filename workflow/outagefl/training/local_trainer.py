"""Local training and evaluation of clients, one after the other, in place on their rows of the model matrix."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from outagefl.datasets.arrays import ImageData
from outagefl.errors import TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.training.batches import batches
from outagefl.training.parameters import BoundModel

EVALUATION_BATCH = 128  # images; larger ones are no faster: their activations leave the cache


class LocalTrainer:
    """Trains clients by plain SGD on their own images and evaluates them on their own test images.

    What a client learns in a round depends on its row, the seed and the round only, not on which other clients train.
    """

    def __init__(
        self,
        module: nn.Module,
        data: ImageData,
        partition: Partition,
        seed: int,
        device: torch.device,
        *,
        steps: int,
        batch_size: int,
        learning_rate: float,
    ) -> None:
        self.model = BoundModel(module.to(device))
        self.data, self.partition, self.seed, self.device = data, partition, seed, device
        self.steps, self.batch_size, self.learning_rate = steps, batch_size, learning_rate
        std = torch.tensor(data.std, dtype=torch.float32, device=device).view(-1, 1, 1)
        mean = torch.tensor(data.mean, dtype=torch.float32, device=device).view(-1, 1, 1)
        self._scale, self._shift = 1 / (255 * std), -mean / std

    def train(self, models: Tensor, clients: NDArray[np.int64], round_number: int) -> None:
        """Train the clients (k,) for ``steps`` steps each, in place on their rows of ``models`` (N, d).

        Raises TrainingError when a client's loss is not finite.
        """
        self.model.module.train()
        losses = torch.empty(len(clients), self.steps, device=self.device)
        for client, row in zip(clients.tolist(), losses, strict=True):
            self._train_one(models[client], client, round_number, row)
        self._require_finite(losses, clients, f"training in round {round_number}")

    def evaluate(self, models: Tensor, clients: NDArray[np.int64], round_number: int) -> NDArray[np.float64]:
        """Accuracy (fraction) and mean cross-entropy (nats) of the clients (k,) on their own test images, as (2, k).

        Raises TrainingError when a client's loss is not finite.
        """
        self.model.module.eval()
        results = torch.zeros(len(clients), 2, dtype=torch.float64, device=self.device)
        for client, row in zip(clients.tolist(), results, strict=True):
            self._evaluate_one(models[client], client, row)
        self._require_finite(results, clients, f"evaluation after round {round_number}")
        return results.T.cpu().numpy()

    def _train_one(self, row: Tensor, client: int, round_number: int, losses: Tensor) -> None:
        """Train one client and write its losses (steps,)."""
        rng = generator(self.seed, "batches", client, round_number)
        chosen = batches(self.partition.train[client], self.steps, self.batch_size, rng)
        images, labels = self._load(self.data.x_train, self.data.y_train, chosen.ravel())
        self.model.bind(row)
        size = chosen.shape[1]
        for step, (x, y) in enumerate(zip(images.split(size), labels.split(size), strict=True)):
            loss = cross_entropy(self.model.module(x), y)
            loss.backward()
            self.model.sgd_step(self.learning_rate)
            losses[step] = loss.detach()

    def _evaluate_one(self, row: Tensor, client: int, result: Tensor) -> None:
        """Write one client's accuracy and mean loss into ``result`` (2,), which holds zeros."""
        own = self.partition.test[client]
        self.model.bind(row)
        with torch.inference_mode():
            for start in range(0, len(own), EVALUATION_BATCH):
                chosen = own[start : start + EVALUATION_BATCH]
                images, labels = self._load(self.data.x_test, self.data.y_test, chosen)
                logits = self.model.module(images)
                result[0] += (logits.argmax(dim=1) == labels).sum()
                result[1] += cross_entropy(logits, labels, reduction="sum")
            result /= len(own)

    def _load(self, x: NDArray[np.uint8], y: NDArray[np.int64], chosen: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Normalised images (B, C, H, W), whose NHWC memory is torch's channels-last format, and labels (B,)."""
        images = torch.from_numpy(x[chosen]).to(self.device).permute(0, 3, 1, 2).float()
        return images.mul_(self._scale).add_(self._shift), torch.from_numpy(y[chosen]).to(self.device)

    def _require_finite(self, values: Tensor, clients: NDArray[np.int64], when: str) -> None:
        broken = clients[~values.isfinite().all(dim=1).cpu().numpy()]
        if len(broken):
            raise TrainingError(
                f"client {broken[0]}: the loss is not finite at {when} "
                f"(learning_rate {self.learning_rate}; a smaller one may help)"
            )
