"""The arithmetic of local training: float32, or faster and rougher on the tensor cores of a GPU.

``float32`` is what it says: torch's switches for TF32, which are partly on by default, are off. ``tf32`` rounds the
factors of matrix products and convolutions to 10 bits of mantissa; a CPU knows no such thing and computes in float32.
``bf16`` computes the layers, forward and backward, in bfloat16 where torch's autocast holds that to be safe. Models,
losses, optimisers and clipping are float32 in any case, and so are mixing and evaluation, which no option changes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import torch

PRECISIONS = ("float32", "tf32", "bf16")

log = logging.getLogger(__name__)


def set_tf32(on: bool) -> None:
    """Have all float32 products and convolutions of this process on a GPU use TF32, or not."""
    torch.backends.cuda.matmul.allow_tf32 = on
    torch.backends.cudnn.allow_tf32 = on


@contextmanager
def products(precision: str) -> Iterator[None]:
    """Within this context products and convolutions use TF32 if this is the precision, and only then."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    set_tf32(precision == "tf32")
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def forward(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Within this context, which is for a forward pass, layers compute in the precision.

    Weights are converted each time they are used: autocast's cache would not see that rows change in place.
    """
    if precision != "bf16":
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16, cache_enabled=False)


@cache
def warn_without_gain(precision: str, device: torch.device) -> None:
    """Say, once, that a precision is meant for other devices than this one."""
    if device.type == "cpu" and precision == "tf32":
        log.warning("training.precision: tf32 has no effect on a CPU, which computes in float32")
    if device.type == "cpu" and precision == "bf16" and not torch.cpu._is_avx512_bf16_supported():
        log.warning("training.precision: bf16 is slower than float32 on this CPU, which has no AVX512-BF16 or AMX")
