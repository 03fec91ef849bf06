"""Local training and evaluation of clients, one after the other, in place on their rows of the model matrix."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from outagefl.datasets.arrays import ImageData
from outagefl.errors import TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.training.feed import Feed
from outagefl.training.images import ImageLoader
from outagefl.training.measuring import images_at_once, measure
from outagefl.training.options import TrainingOptions
from outagefl.training.parameters import BoundModel
from outagefl.training.precision import forward, products
from outagefl.training.seeding import seeded, torch_seed
from outagefl.training.work import Work


class LocalTrainer:
    """Trains clients on their own images and evaluates them on their own test images.

    What a client learns in a round depends on its row, its optimiser's state, the seed, the round and, in a persistent
    order, on how many rounds it has trained in; not on which other clients train.
    """

    stacks = False  # whether clients that train together take less time than one by one

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
        self._optimiser = self.options.make_optimiser()
        self._load = ImageLoader(data, device)
        self._feed = Feed(data, partition, seed, self.options, self._load)
        self._at_once = images_at_once(module, self._load.plain(data.x_train, np.arange(1)))
        self._drops = any(isinstance(layer, nn.Dropout) for layer in module.modules())

    def optimiser_states(self, clients: int) -> Tensor:
        """The state of each client's optimiser before its first step, float32 (clients, s, p), p parameters."""
        return torch.zeros(clients, self._optimiser.state_size, self.model.parameters, device=self.device)

    def train(
        self,
        rows: Sequence[Tensor],
        clients: NDArray[np.int64],
        round_number: int | NDArray[np.int64],
        rounds_done: NDArray[np.int64],
        states: Sequence[Tensor] | None = None,
    ) -> None:
        """Train the clients (k,) for a round each, in place on their models ``rows``, k tensors (d,).

        ``round_number``: of all, or of each client, (k,). ``rounds_done`` (k,): the rounds each client has trained in
        before. ``states``: of their optimisers, k tensors (s, p), also changed in place; without them every optimiser
        begins anew. The last bits may depend on where a row begins in memory, modulo 16 bytes: a tensor of its own or a
        client's fixed row of a matrix gives the same.

        Raises TrainingError when a client's loss is not finite.
        """
        self.model.module.train()
        numbers = np.broadcast_to(round_number, clients.shape)
        taken = [0] * len(clients)
        if states is not None:
            taken = [self._feed.steps(client) * done for client, done in zip(clients, rounds_done, strict=True)]
        kept = self.optimiser_states(len(clients)) if states is None else states
        columns = (clients.tolist(), rows, kept, numbers.tolist(), rounds_done.tolist(), taken)
        losses = self._train_all([Work(*entries) for entries in zip(*columns, strict=True)])
        self._require_finite(losses[:, None], clients, "training in round", numbers)

    def evaluate(self, models: Tensor, clients: NDArray[np.int64], round_number: int) -> NDArray[np.float64]:
        """Accuracy (fraction) and mean cross-entropy (nats) of the clients (k,) on their own test images, as (2, k).

        Raises TrainingError when a client's loss is not finite.
        """
        results = self._measure_own([models[client] for client in clients.tolist()], clients)
        self._require_finite(results, clients, "evaluation after round", np.full(len(clients), round_number))
        return results.T.cpu().numpy()

    def measure(
        self, row: Tensor, x: NDArray[np.uint8], y: NDArray[np.int64], chosen: NDArray[np.int64] | None = None
    ) -> Tensor:
        """``measure_many`` of one model ``row`` (d,): its accuracy and mean cross-entropy, float64 (2,)."""
        return self.measure_many([row], x, y, chosen)[0]

    def measure_many(
        self,
        rows: Sequence[Tensor],
        x: NDArray[np.uint8],
        y: NDArray[np.int64],
        chosen: NDArray[np.int64] | None = None,
    ) -> Tensor:
        """Accuracy and mean cross-entropy, float64 (k, 2), of the models ``rows``, k tensors (d,), on the same images.

        ``chosen``: indices of the images of x with labels y to measure on, all by default. A loss that is not finite is
        not an error here.
        """
        return self._measure_shared(x, y, np.arange(len(y)) if chosen is None else chosen, rows)

    def _measure_shared(
        self, x: NDArray[np.uint8], y: NDArray[np.int64], chosen: NDArray[np.int64], rows: Sequence[Tensor]
    ) -> Tensor:
        return measure(self.model, rows, self._load, x, y, chosen, self._at_once)

    def _measure_own(self, rows: Sequence[Tensor], clients: NDArray[np.int64]) -> Tensor:
        """``measure`` of every client's model on its own test images, float64 (k, 2)."""
        results = torch.empty(len(clients), 2, dtype=torch.float64, device=self.device)
        for row, client, result in zip(rows, clients.tolist(), results, strict=True):
            result[:] = self.measure(row, self.data.x_test, self.data.y_test, self.partition.test[client])
        return results

    def _train_all(self, work: Sequence[Work]) -> Tensor:
        """Do all the work; the sum of the losses of each, (k,)."""
        losses = torch.zeros(len(work), device=self.device)
        for one, loss in zip(work, losses, strict=True):
            self._train_one(one, loss)
        return losses

    def _train_one(self, work: Work, total: Tensor) -> None:
        """Train one client and add its losses to ``total`` ()."""
        step_size = self.options.step_size(work.round_number)
        batches = self._feed.batches(work.client, work.round_number, work.rounds_done)
        self.model.bind(work.row)
        precision = self.options.precision
        with self._dropout(work.client, work.round_number), products(precision):
            for done, (x, y) in enumerate(batches, work.steps_done):
                with forward(precision, self.device):
                    logits = self.model.module(x)
                loss = cross_entropy(logits.float(), y)
                loss.backward()
                gradient = self.model.gradient(self.options.clip_norm)
                self._optimiser.step([self.model.trained], [gradient], [work.state], step_size, [done])
                gradient.zero_()
                total += loss.detach()

    def _dropout(self, client: int, round_number: int) -> AbstractContextManager[None]:
        """Within this context dropout is the client's own in this round."""
        if not self._drops:
            return nullcontext()
        return seeded(torch_seed(self.seed, "dropout", client, round_number), self.device)

    def _require_finite(
        self, values: Tensor, clients: NDArray[np.int64], when: str, round_numbers: NDArray[np.int64]
    ) -> None:
        broken = np.flatnonzero(~values.isfinite().all(dim=1).cpu().numpy())
        if len(broken):
            raise TrainingError(
                f"client {clients[broken[0]]}: the loss is not finite at {when} {round_numbers[broken[0]]} "
                f"(learning_rate {self.options.learning_rate}; a smaller one may help)"
            )
