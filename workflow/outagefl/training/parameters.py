"""All models as the rows of one matrix X ∈ R^{N×d}: a network is bound to a row, never copied from it.

A row holds the network's parameters in the order of ``Module.parameters()`` and then its floating-point buffers, such
as BatchNorm's running statistics.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def parts(flat: Tensor, like: Iterable[Tensor]) -> list[Tensor]:
    """Views of consecutive stretches of flat tensors, the last dimension of ``flat``, in the shapes of ``like``."""
    shapes = [tensor.shape for tensor in like]
    stretches = flat.split([shape.numel() for shape in shapes], dim=-1)
    return [stretch.view(*flat.shape[:-1], *shape) for stretch, shape in zip(stretches, shapes, strict=True)]


class BoundModel:
    """One network that works in place on any row it is bound to, its gradients gathered in one flat buffer.

    ``parameters``: p, how many of a row's numbers are trained, from its beginning; the others are buffers. ``trained``:
    these numbers of the bound row, (p,).
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        parameters = list(module.parameters())
        self.parameters = sum(p.numel() for p in parameters)
        buffers = {name: buffer for name, buffer in module.named_buffers() if buffer.is_floating_point()}
        self._tensors: dict[str, Tensor] = dict(module.named_parameters()) | buffers
        self._gradient = torch.zeros(self.parameters, device=parameters[0].device)
        for parameter, gradient in zip(parameters, parts(self._gradient, parameters), strict=True):
            parameter.grad = gradient

    def row(self) -> Tensor:
        """A copy of the network's current state as a row (d,)."""
        return torch.cat([tensor.detach().flatten() for tensor in self._tensors.values()])

    def bind(self, row: Tensor) -> None:
        """Make the network's state views into ``row`` (d,), float32 and contiguous."""
        for tensor, view in zip(self._tensors.values(), parts(row, self._tensors.values()), strict=True):
            tensor.data = view
        self.trained = row[: self.parameters]

    def views(self, rows: Tensor) -> dict[str, Tensor]:
        """The state of k networks as views into ``rows`` (k, d): name → (k, …)."""
        return dict(zip(self._tensors, parts(rows, self._tensors.values()), strict=True))

    def gradient(self, clip_norm: float | None = None) -> Tensor:
        """The gradient gathered for the bound row (p,), a view to be cleared before more is gathered.

        Where ``clip_norm`` is given, the gradient of all parameters together is first scaled down to this norm.
        """
        if clip_norm is not None:
            self._gradient *= (clip_norm / torch.linalg.vector_norm(self._gradient)).clamp(max=1)
        return self._gradient
