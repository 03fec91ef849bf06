"""Many networks of one architecture as one with a batch dimension (``torch.func.vmap``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.functional import cross_entropy

from outagefl.training.convolutions import convolving
from outagefl.training.devices import moved
from outagefl.training.images import ImageLoader
from outagefl.training.parameters import BoundModel, parts
from outagefl.training.precision import forward

MEASURED = 4096  # images that are measured at once, of all models together

State = dict[str, Tensor]  # of k networks: name → (k, …)


class StackedNetwork:
    """The network of a ``model``, k times; ``convolution``: see ``training.convolutions``."""

    def __init__(self, model: BoundModel, convolution: str) -> None:
        self._module, self._model, self._convolution = model.module, model, convolution
        self.dropouts = [layer for layer in model.module.modules() if isinstance(layer, nn.Dropout)]

    def separate(self, rows: Tensor) -> tuple[Tensor, State]:
        """The parameters (k, p) of ``rows`` (k, d), which may share their memory, and copies of the running statistics.

        Both are contiguous: batch normalisation under vmap updates no other statistics.
        """
        names = {name for name, _ in self._module.named_parameters()}
        kept = {name: view.clone() for name, view in self._model.views(rows).items() if name not in names}
        return rows[:, : self._model.parameters].contiguous(), kept

    def join(self, rows: Tensor, parameters: Tensor, kept: State) -> None:
        """Write into ``rows`` (k, d) what ``separate`` took out of them."""
        rows[:, : self._model.parameters] = parameters
        views = self._model.views(rows)
        for name, statistics in kept.items():
            views[name].copy_(statistics)

    def gradients(
        self, parameters: Tensor, kept: State, x: Tensor, y: Tensor, masks: Sequence[Tensor], precision: str
    ) -> tuple[Tensor, Tensor]:
        """Gradients (k, p) and losses (k,) of k networks on a batch each: x (k, b, C, H, W), y (k, b).

        ``masks``: of each dropout layer, (k, b, …). Running statistics in ``kept`` are brought up to date in place.
        """
        named = list(self._module.named_parameters())
        views = parts(parameters, [parameter for _, parameter in named])
        trained = {name: view.detach().requires_grad_() for (name, _), view in zip(named, views, strict=True)}
        with forward(precision, x.device):
            found = self._logits(trained | kept, x, list(masks), precision)
        losses = cross_entropy(found.flatten(0, 1).float(), y.flatten(), reduction="none").view(y.shape).mean(dim=1)
        gradients = torch.autograd.grad(losses.sum(), list(trained.values()))
        return torch.cat([gradient.flatten(1) for gradient in gradients], dim=1), losses.detach()

    def measure(self, rows: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Which labels the networks of ``rows`` (k, d) get right, bool (k, b), and their losses, (k, b).

        Images x and labels y: of each network, (k, b, C, H, W) and (k, b), or the same for all without the k.
        """
        logits = self._logits(self._model.views(rows), x, None, "float32")
        labels = y.expand(logits.shape[:2])
        losses = cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        return logits.argmax(dim=2) == labels, losses.view(labels.shape)

    def _logits(self, tensors: Mapping[str, Tensor], x: Tensor, masks: list[Tensor] | None, precision: str) -> Tensor:
        """Logits (k, b, classes); without masks dropout is as the module has it."""

        def one(tensors: State, images: Tensor, masks: list[Tensor] | None) -> Any:
            with masked(self.dropouts if masks else [], masks or []):
                return functional_call(self._module, tensors, (images,))

        dims = (0, 0 if x.ndim == 5 else None, None if masks is None else 0)
        with convolving(self._convolution, precision):
            logits: Tensor = vmap(one, in_dims=dims)(dict(tensors), x, masks)
        return logits


def measure_stack(
    network: StackedNetwork,
    rows: Sequence[Tensor],
    load: ImageLoader,
    x: NDArray[np.uint8],
    y: NDArray[np.int64],
    chosen: Sequence[NDArray[np.int64]],
) -> Tensor:
    """Accuracy and mean cross-entropy, float64 (k, 2), of the models ``rows``, k tensors (d,), in evaluation mode.

    ``chosen``: indices of the images of x, with labels y, to measure on: for each model, or a single array for all.
    """
    sizes = np.array([len(own) for own in chosen])
    places = np.zeros((len(chosen), sizes.max()), dtype=np.int64)  # shorter ones are filled up, which does not count
    for row, own in zip(places, chosen, strict=True):
        row[: len(own)] = own
    counts = np.arange(sizes.max()) < sizes[:, None]
    totals = torch.zeros(len(rows), 2, dtype=torch.float64, device=load.device)
    batch = max(1, MEASURED // len(rows))
    with torch.inference_mode():
        stack = torch.stack(list(rows))
        for start in range(0, sizes.max(), batch):
            batches, counted = places[:, start : start + batch], moved(counts[:, start : start + batch], load.device)
            images, labels = load.plain(x, batches), load.labels(y, batches)
            right, losses = network.measure(stack, *((images[0], labels[0]) if len(chosen) == 1 else (images, labels)))
            totals[:, 0] += (right & counted).sum(dim=1)
            totals[:, 1] += losses.where(counted, 0).sum(dim=1, dtype=torch.float64)
    return totals / moved(sizes, load.device)[:, None]


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
