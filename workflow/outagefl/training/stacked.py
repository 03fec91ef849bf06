"""Local training and evaluation of many clients at once, their models as one stack."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import dropout

from outagefl.training.devices import moved
from outagefl.training.feed import Portion
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.pack import TRAINING, together
from outagefl.training.precision import products
from outagefl.training.seeding import lent, reseed, torch_seed
from outagefl.training.stacked_network import StackedNetwork, measure_stack
from outagefl.training.work import Work

log = logging.getLogger(__name__)

STACKED_BELOW = 20_000  # parameters; measured on a CPU with benchmarks/gpu.py --device cpu

Item = TypeVar("Item")


@dataclass(frozen=True)
class Way:
    """How stacks are worked on.

    models: the most at once, fewer where they do not fit in memory. convolution: see ``training.convolutions``. whole:
    whether models are measured as stacks, too, and an optimiser takes those that are at the same step as one tensor.
    """

    models: int
    convolution: str
    whole: bool


# On a CPU small stacks stay in its caches. For CUDA unfolded convolutions are not measured but a guess: GPU libraries
# are known to be slow at a hundred groups. benchmarks/gpu.py measures both for every network.
WAYS = {"cpu": Way(16, "grouped", whole=False), "cuda": Way(sys.maxsize, "unfolded", whole=True)}


def trainer_class(module: nn.Module, device: torch.device, *, small: bool = False) -> type[LocalTrainer]:
    """The trainer for a network: on a GPU a stacked one; on a CPU, too, where ``small`` ones are wanted and it is one.

    A CPU works faster through larger networks one after the other, each within its caches.
    """
    parameters = sum(parameter.numel() for parameter in module.parameters())
    stack = device.type != "cpu" or (small and parameters < STACKED_BELOW)
    return StackedTrainer if stack else LocalTrainer


@dataclass(frozen=True)
class Task:
    """A unit of work with all that is drawn for it: images, and what seeds dropout."""

    work: Work
    portion: Portion
    step_size: float
    seed: int


class StackedTrainer(LocalTrainer):
    """Does what LocalTrainer does, up to the rounding of float32, for clients whose batches have equal sizes at once.

    The clients may be those of several runs, see ``training.pack``: of one network, data set and way of training, in
    which nothing but step sizes may differ.

    The draws are the same. It pays where a step's cost is that of its many calls: on a GPU, and for networks of a few
    thousand parameters on a CPU.
    """

    stacks = True

    def __init__(self, module: nn.Module, *others: Any, **training: Any) -> None:
        super().__init__(module, *others, **training)
        self._way = WAYS[self.device.type]
        self._most = self._way.models
        self._network = StackedNetwork(self.model, self._way.convolution)

    def _measure_shared(
        self, x: NDArray[np.uint8], y: NDArray[np.int64], chosen: NDArray[np.int64], rows: Sequence[Tensor]
    ) -> Tensor:
        if not self._way.whole:
            return super()._measure_shared(x, y, chosen, rows)
        key = (id(x), id(y), chosen.tobytes())
        return together(key, rows, partial(self._in_stacks, partial(self._measure_stack, x, y, chosen)))

    def _measure_own(self, rows: Sequence[Tensor], clients: NDArray[np.int64]) -> Tensor:
        if not self._way.whole or not len(rows):
            return super()._measure_own(rows, clients)
        given = [(row, self.partition.test[client]) for row, client in zip(rows, clients, strict=True)]
        return together("own images", given, partial(self._in_stacks, self._measure_each))

    def _train_all(self, work: Sequence[Work]) -> Tensor:
        return together(TRAINING, [self._task(one) for one in work], self._train_tasks)

    def _task(self, work: Work) -> Task:
        portion = self._feed.portion(work.client, work.round_number, work.rounds_done)
        seed = torch_seed(self.seed, "dropout", work.client, work.round_number) if self._drops else 0
        return Task(work, portion, self.options.step_size(work.round_number), seed)

    def _train_tasks(self, tasks: Sequence[Task]) -> Tensor:
        """Do all the work; the sum of the losses of each, (k,)."""
        self.model.module.train()
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, task in enumerate(tasks):
            alike.setdefault(task.portion.sizes, []).append(i)
        losses = torch.zeros(len(tasks), device=self.device)
        for members in alike.values():
            found = self._in_stacks(self._train_stack, [tasks[i] for i in members])
            losses.index_copy_(0, moved(np.array(members), self.device), found)
        return losses

    def _in_stacks(self, work: Callable[[Sequence[Item]], Tensor], items: Sequence[Item]) -> Tensor:
        """What ``work`` returns for all items, a row each, given as many of them at once as there is memory for."""
        found: list[Tensor] = []
        done = 0
        while done < len(items):
            stack = items[done : done + self._most]
            try:
                found.append(work(stack))
                done += len(stack)
                continue
            except torch.OutOfMemoryError:
                if len(stack) == 1:
                    raise
            self._most = -(-len(stack) // 2)
            log.info("no memory for %d models at once; going on with %d", len(stack), self._most)
            torch.cuda.empty_cache()
        return torch.cat(found)

    def _train_stack(self, tasks: Sequence[Task]) -> Tensor:
        """Train clients whose batches have equal sizes; the sum of the losses of each, (k,)."""
        work = [task.work for task in tasks]
        rows, states = torch.stack([one.row for one in work]), torch.stack([one.state for one in work], dim=1)
        parameters, kept = self._network.separate(rows)
        masks = self._masks(tasks)
        stretches = self._stretches(tasks)
        total = torch.zeros(len(tasks), device=self.device)
        with products(self.options.precision):
            for step, dropped in enumerate(zip(*masks, strict=True)):
                x, y = self._batches([task.portion for task in tasks], step)
                layers = [torch.stack(layer) for layer in zip(*dropped, strict=True)]
                gradients, losses = self._network.gradients(parameters, kept, x, y, layers, self.options.precision)
                if (clip := self.options.clip_norm) is not None:
                    gradients *= (clip / gradients.norm(dim=1, keepdim=True)).clamp(max=1)
                for step_size, alike in stretches.items():
                    self._optimiser.step(
                        [parameters[place] for place, _ in alike],
                        [gradients[place] for place, _ in alike],
                        [states[:, place] for place, _ in alike],
                        step_size,
                        [done + step for _, done in alike],
                    )
                total += losses
        self._network.join(rows, parameters, kept)
        torch._foreach_copy_([one.row for one in work], list(rows))
        for slot, state in enumerate(states):
            torch._foreach_copy_([one.state[slot] for one in work], list(state))
        return total

    def _batches(self, portions: Sequence[Portion], step: int) -> tuple[Tensor, Tensor]:
        """Images (k, b, C, H, W) and labels (k, b) of a step of k portions whose batches have equal sizes."""
        moves = [portion.moves[step] for portion in portions if portion.moves is not None]
        x, y = self._feed.loaded([portion.batches[step] for portion in portions], moves or None)
        x, y = (tensor.unflatten(0, (len(portions), -1)) for tensor in (x, y))
        return x.contiguous() if self._way.convolution == "grouped" else x, y

    @cached_property
    def _dropped(self) -> list[tuple[float, torch.Size]]:
        """The probability and an image's shape at every dropout layer, in the order in which they draw."""
        seen: list[tuple[float, torch.Size]] = []
        hooks = [
            layer.register_forward_pre_hook(lambda layer, given: seen.append((layer.p, given[0].shape[1:])))
            for layer in self._network.dropouts
        ]
        with torch.inference_mode():
            self.model.module.eval()(self._load.plain(self.data.x_train, np.arange(1)))
        self.model.module.train()
        for hook in hooks:
            hook.remove()
        return seen

    def _masks(self, tasks: Sequence[Task]) -> list[list[list[Tensor]]]:
        """What every client's dropout multiplies its values by: by client, step and layer."""
        if not self._drops:
            return [[[] for _ in task.portion.sizes] for task in tasks]
        masks = []
        with lent(self.device):
            for task in tasks:
                reseed(task.seed, self.device)
                masks.append([[self._mask(size, *layer) for layer in self._dropped] for size in task.portion.sizes])
        return masks

    def _mask(self, images: int, p: float, shape: torch.Size) -> Tensor:
        return dropout(torch.ones(images, *shape, device=self.device), p)

    def _measure_stack(
        self, x: NDArray[np.uint8], y: NDArray[np.int64], chosen: NDArray[np.int64], rows: Sequence[Tensor]
    ) -> Tensor:
        self.model.module.eval()
        return measure_stack(self._network, rows, self._load, x, y, [chosen])

    def _measure_each(self, given: Sequence[tuple[Tensor, NDArray[np.int64]]]) -> Tensor:
        rows, chosen = zip(*given, strict=True)
        self.model.module.eval()
        return measure_stack(self._network, rows, self._load, self.data.x_test, self.data.y_test, chosen)

    def _stretches(self, tasks: Sequence[Task]) -> dict[float, list[tuple[slice, int]]]:
        """Which of a stack an optimiser takes as one tensor, and the steps done before: by step size."""
        if not self._way.whole:
            ends = [(task.step_size, task.work.steps_done, 1) for task in tasks]
        else:
            runs = groupby(tasks, key=lambda task: (task.step_size, task.work.steps_done))
            ends = [(*key, len(list(members))) for key, members in runs]
        found: dict[float, list[tuple[slice, int]]] = {}
        start = 0
        for step_size, done, length in ends:
            found.setdefault(step_size, []).append((slice(start, start + length), done))
            start += length
        return found
