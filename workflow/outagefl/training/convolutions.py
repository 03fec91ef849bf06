"""Convolutions as products of matrices, for stacks of networks.

Under ``torch.func.vmap`` the convolutions of k networks become one convolution with k groups (``grouped``), which GPU
libraries are slow at. ``unfolded`` copies the window of every output pixel into a row of a matrix, in channels-last
order, and multiplies it by the kernels: for k networks a batched product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, batch_norm, conv2d, pad
from torch.overrides import TorchFunctionMode

KINDS = ("grouped", "unfolded")


def unfolded(
    images: Tensor,
    kernels: Tensor,
    bias: Tensor | None = None,
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Tensor:
    """``torch.nn.functional.conv2d`` of images (b, C, H, W) and ``kernels`` (O, C, h, w), neither dilated nor grouped.

    What it returns lies in memory in channels-last format.
    """
    if tuple(dilation) != (1, 1) or groups != 1:
        raise ValueError(f"a convolution with dilation {dilation} and {groups} groups cannot be unfolded")
    height, width = kernels.shape[2:]
    padded = pad(images.movedim(1, 3), (0, 0, padding[1], padding[1], padding[0], padding[0]))
    windows = padded.unfold(1, height, stride[0]).unfold(2, width, stride[1])  # (b, H', W', C, h, w)
    pixels = windows.permute(0, 1, 2, 4, 5, 3).flatten(3)
    weights = kernels.permute(2, 3, 1, 0).flatten(0, 2)
    rows = pixels.flatten(0, 2)
    found = rows @ weights if bias is None else torch.addmm(bias, rows, weights)
    return found.view(*pixels.shape[:3], -1).movedim(3, 1)


def averaged(images: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """``adaptive_avg_pool2d`` to a single pixel: under vmap torch's own is slow on images in channels-last format."""
    if output_size not in (1, (1, 1)):
        raise ValueError(f"an average over images: found output size {output_size}, expected 1")
    return images.mean(dim=(2, 3), keepdim=True)


def normalised(images: Tensor, *options: Any, **others: Any) -> Tensor:
    """``batch_norm`` of float32: under vmap torch refuses bfloat16 beside float32 statistics.

    On contiguous images, for under vmap torch's gradient is wrong for a single image in channels-last format.
    """
    return batch_norm(images.float().contiguous(), *options, **others)


def rounded(convolve: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A convolution in bfloat16, to which autocast does not convert one under vmap."""

    def found(images: Tensor, kernels: Tensor, bias: Tensor | None = None, *options: Any) -> Tensor:
        return convolve(images.bfloat16(), kernels.bfloat16(), None if bias is None else bias.bfloat16(), *options)

    return found


Replacements = Mapping[Any, Callable[..., Any]]
_UNFOLDED: Replacements = {conv2d: unfolded, adaptive_avg_pool2d: averaged, batch_norm: normalised}
_INSTEAD: Mapping[tuple[str, bool], Replacements] = {  # by kind, and whether in bfloat16
    ("grouped", False): {},
    ("grouped", True): {conv2d: rounded(conv2d), batch_norm: normalised},
    ("unfolded", False): _UNFOLDED,
    ("unfolded", True): {**_UNFOLDED, conv2d: rounded(unfolded)},
}


class _Replacing(TorchFunctionMode):
    def __init__(self, instead: Replacements) -> None:
        super().__init__()
        self._instead = instead

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return self._instead.get(func, func)(*args, **(kwargs or {}))


def convolving(kind: str, precision: str = "float32") -> AbstractContextManager[object]:
    """Within this context all convolutions of stacked networks are of this kind and precision."""
    instead = _INSTEAD[kind, precision == "bf16"]
    return _Replacing(instead) if instead else nullcontext()
