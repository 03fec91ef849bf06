"""Local training of many clients at once: their models as one network with a batch dimension (``torch.func.vmap``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.functional import cross_entropy, dropout

from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.precision import forward, products
from outagefl.training.work import Work

STACK = 16  # models at once: bounds the memory
STACKED_BELOW = 20_000  # parameters; measured on a CPU with benchmarks/stacked_training.py


def trainer_class(module: nn.Module) -> type[LocalTrainer]:
    """The trainer that is faster for a network: a stacked one for small networks alone."""
    parameters = sum(parameter.numel() for parameter in module.parameters())
    return StackedTrainer if parameters < STACKED_BELOW else LocalTrainer


class StackedTrainer(LocalTrainer):
    """Does what LocalTrainer does, up to the rounding of float32, for clients whose batches have equal sizes at once.

    The draws are the same. It pays where a step's cost is that of its many calls, as for networks of a few thousand
    parameters; a CPU works faster through larger ones one after the other, each within its caches.
    """

    stacks = True

    @cached_property
    def _dropouts(self) -> list[nn.Dropout]:
        return [layer for layer in self.model.module.modules() if isinstance(layer, nn.Dropout)]

    @cached_property
    def _dropped(self) -> list[tuple[float, torch.Size]]:
        """The probability and an image's shape at every dropout layer, in the order in which they draw."""
        seen: list[tuple[float, torch.Size]] = []
        hooks = [
            layer.register_forward_pre_hook(lambda layer, given: seen.append((layer.p, given[0].shape[1:])))
            for layer in self._dropouts
        ]
        with torch.inference_mode():
            self.model.module.eval()(self._load.plain(self.data.x_train, np.arange(1)))
        self.model.module.train()
        for hook in hooks:
            hook.remove()
        return seen

    def _masks(self, work: Work, sizes: Sequence[int]) -> list[list[Tensor]]:
        """What the client's dropout multiplies its values by: for each step, with ``sizes`` images, and each layer."""
        with self._dropout(work.client, work.round_number):
            return [
                [dropout(torch.ones(size, *shape, device=self.device), p) for p, shape in self._dropped]
                for size in sizes
            ]

    def _train_all(self, work: Sequence[Work]) -> Tensor:
        batches = [list(self._feed.batches(one.client, one.round_number, one.rounds_done)) for one in work]
        alike: dict[tuple[float, ...], list[int]] = {}
        for i, one in enumerate(work):
            kind = (self.options.step_size(one.round_number), *(len(y) for _, y in batches[i]))
            alike.setdefault(kind, []).append(i)
        losses = torch.zeros(len(work), device=self.device)
        for (step_size, *_), members in alike.items():
            for start in range(0, len(members), STACK):
                stack = members[start : start + STACK]
                with products(self.options.precision):
                    losses[stack] = self._train_stack([work[i] for i in stack], [batches[i] for i in stack], step_size)
        return losses

    def _train_stack(
        self, work: Sequence[Work], batches: Sequence[Sequence[tuple[Tensor, Tensor]]], step_size: float
    ) -> Tensor:
        """Train clients whose batches have equal sizes; the sum of the losses of each, (k,)."""
        rows = torch.stack([one.row for one in work])
        trained = list(rows[:, : self.model.parameters])
        masks = [self._masks(one, [len(y) for _, y in own]) for one, own in zip(work, batches, strict=True)]
        total = torch.zeros(len(work), device=self.device)
        for step, (given, dropped) in enumerate(zip(zip(*batches, strict=True), zip(*masks, strict=True), strict=True)):
            x, y = (torch.stack(parts).contiguous() for parts in zip(*given, strict=True))
            gradients, losses = self._gradients(
                rows, x, y, [torch.stack(layer) for layer in zip(*dropped, strict=True)]
            )
            if (clip := self.options.clip_norm) is not None:
                gradients *= (clip / gradients.norm(dim=1, keepdim=True)).clamp(max=1)
            states, done = [one.state for one in work], [one.steps_done + step for one in work]
            self._optimiser.step(trained, list(gradients), states, step_size, done)
            total += losses
        for one, row in zip(work, rows, strict=True):
            one.row.copy_(row)
        return total

    def _gradients(self, rows: Tensor, x: Tensor, y: Tensor, masks: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Gradients (k, p) and losses (k,) of the models ``rows`` (k, d) on a batch each: x (k, b, C, H, W), y (k, b).

        ``masks``: of each dropout layer, (k, b, …). Running statistics are brought up to date in place.
        """
        module, views = self.model.module, self.model.views(rows)
        trained = {name: views[name].detach().requires_grad_() for name, _ in module.named_parameters()}
        # Under vmap batch normalisation updates only running statistics that are contiguous, hence copies.
        kept = {name: view.clone() for name, view in views.items() if name not in trained}

        def logits(tensors: dict[str, Tensor], images: Tensor, masks: list[Tensor]) -> Any:
            with masked(self._dropouts, masks):
                return functional_call(module, tensors, (images,))

        with forward(self.options.precision, self.device):
            found = vmap(logits)(trained | kept, x, masks)
        losses = cross_entropy(found.flatten(0, 1).float(), y.flatten(), reduction="none").view(y.shape).mean(dim=1)
        gradients = torch.autograd.grad(losses.sum(), list(trained.values()))
        for name, statistics in kept.items():
            views[name].copy_(statistics)
        return torch.cat([gradient.flatten(1) for gradient in gradients], dim=1), losses.detach()


@contextmanager
def masked(layers: Sequence[nn.Dropout], masks: Sequence[Tensor]) -> Iterator[None]:
    """Within this context dropout ``layers``, in the order in which they are met, draw nothing but use ``masks``."""
    left = iter(masks)
    hooks = [layer.register_forward_hook(lambda _layer, given, _output: given[0] * next(left)) for layer in layers]
    for layer in layers:
        layer.eval()
    try:
        yield
    finally:
        for layer, hook in zip(layers, hooks, strict=True):
            layer.train()
            hook.remove()
