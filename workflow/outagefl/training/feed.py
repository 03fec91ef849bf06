"""What a client is given to train on in a round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from outagefl.datasets.arrays import ImageData
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.training.augmentation import draw_moves
from outagefl.training.batches import batches_per_epoch, fresh, persistent
from outagefl.training.images import ImageLoader
from outagefl.training.options import TrainingOptions


@dataclass(frozen=True)
class Portion:
    """What is drawn for a client's round: indices (b,) of each batch, and how each batch's images move, (3, b) each.

    ``moves`` is None where images stay as they are.
    """

    batches: Sequence[NDArray[np.int64]]
    moves: Sequence[NDArray[np.int64]] | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many images each batch has."""
        return tuple(len(batch) for batch in self.batches)


class Feed:
    """The clients' batches, drawn from named randomness and put on the device by ``load``."""

    def __init__(
        self, data: ImageData, partition: Partition, seed: int, options: TrainingOptions, load: ImageLoader
    ) -> None:
        self._x, self._y, self._parts, self._load = data.x_train, data.y_train, partition.train, load
        self._seed, self._options, self._keep_rest = seed, options, options.order == "whole_epochs"

    def steps(self, client: int) -> int:
        """How many batches the client trains on in a round."""
        if self._options.unit == "batches":
            return self._options.steps
        images = len(self._parts[client])
        return self._options.steps * batches_per_epoch(images, self._options.batch_size, keep_rest=self._keep_rest)

    def batches(self, client: int, round_number: int, rounds_done: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Images (b, C, H, W) and labels (b,) of each batch of the client's round, its ``rounds_done + 1``-th."""
        portion = self.portion(client, round_number, rounds_done)
        images, labels = self.loaded(portion.batches, portion.moves)
        return zip(images.split(portion.sizes), labels.split(portion.sizes), strict=True)

    def portion(self, client: int, round_number: int, rounds_done: int) -> Portion:
        """What is drawn for the client's round, its ``rounds_done + 1``-th."""
        chosen = self._chosen(client, round_number, rounds_done)
        if self._options.augmentation == "none":
            return Portion(chosen, None)
        sizes = [len(batch) for batch in chosen]
        groups = sizes if self._options.augmentation == "batch" else [1] * sum(sizes)
        rng = generator(self._seed, "augmentation", client, round_number)
        drawn = draw_moves(groups, rng, flip=self._options.flip)
        return Portion(chosen, np.split(drawn, np.cumsum(sizes)[:-1], axis=1))

    def loaded(
        self, batches: Sequence[NDArray[np.int64]], moves: Sequence[NDArray[np.int64]] | None
    ) -> tuple[Tensor, Tensor]:
        """Images (B, C, H, W) and labels (B,) of batches (b,), moved by ``moves``, (3, b) each, all in a row."""
        chosen = np.concatenate(batches)
        labels = self._load.labels(self._y, chosen)
        if moves is None:
            return self._load.plain(self._x, chosen), labels
        moved = np.concatenate(moves, axis=1)
        return self._load.augmented(self._x, chosen, self._options.augmentation, moved), labels

    def _chosen(self, client: int, round_number: int, rounds_done: int) -> Sequence[NDArray[np.int64]]:
        own, steps, size = self._parts[client], self.steps(client), self._options.batch_size
        if self._options.order == "fresh":
            return list(fresh(own, steps, size, generator(self._seed, "batches", client, round_number)))
        epochs = partial(generator, self._seed, "order", client)
        return persistent(own, steps, size, rounds_done * steps, epochs, keep_rest=self._keep_rest)
