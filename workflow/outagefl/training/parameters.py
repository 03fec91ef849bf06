"""All models as the rows of one matrix X ∈ R^{N×d}: a network is bound to a row, never copied from it.

A row holds the network's parameters in the order of ``Module.parameters()`` and then its floating-point buffers, such
as BatchNorm's running statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def _parts(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of consecutive stretches of a flat tensor, in the shapes of ``like``."""
    stretches = flat.split([tensor.numel() for tensor in like])
    return [stretch.view(tensor.shape) for stretch, tensor in zip(stretches, like, strict=True)]


class BoundModel:
    """One network that works in place on any row it is bound to, its gradients gathered in one flat buffer.

    ``parameters``: how many of a row's numbers are trained, from its beginning; the others are buffers.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        parameters = list(module.parameters())
        self.parameters = sum(p.numel() for p in parameters)
        self._tensors = parameters + [buffer for buffer in module.buffers() if buffer.is_floating_point()]
        self._gradient = torch.zeros(self.parameters, device=parameters[0].device)
        for parameter, gradient in zip(parameters, _parts(self._gradient, parameters), strict=True):
            parameter.grad = gradient

    def row(self) -> Tensor:
        """A copy of the network's current state as a row (d,)."""
        return torch.cat([tensor.detach().flatten() for tensor in self._tensors])

    def bind(self, row: Tensor) -> None:
        """Make the network's state views into ``row`` (d,), float32 and contiguous."""
        for tensor, view in zip(self._tensors, _parts(row, self._tensors), strict=True):
            tensor.data = view
        self._trainable = row[: self.parameters]

    def step(self, update: Callable[[Tensor, Tensor], None], clip_norm: float | None = None) -> None:
        """Let ``update`` take all parameters of the bound row down the gradients since the last step; clear these.

        Where ``clip_norm`` is given, the gradient of all parameters together is first scaled down to this norm.
        """
        if clip_norm is not None:
            self._gradient *= (clip_norm / torch.linalg.vector_norm(self._gradient)).clamp(max=1)
        update(self._trainable, self._gradient)
        self._gradient.zero_()
