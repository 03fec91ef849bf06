"""Random data of the true shapes, and bridges between outagefl's rows and the reference's networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from outagefl.datasets.arrays import ImageData
from outagefl.inputs.partitions import Partition

CIFAR10, EMNIST = ((32, 32, 3), 10), ((28, 28, 1), 47)


def random_data(shape: tuple[int, int, int], classes: int, train: int, test: int) -> ImageData:
    """Random images and labels."""
    rng = np.random.default_rng(0)
    x = [rng.integers(0, 256, (count, *shape), dtype=np.uint8) for count in (train, test)]
    y = [rng.integers(0, classes, count) for count in (train, test)]
    half = (0.5,) * shape[2]
    return ImageData(x[0], y[0], x[1], y[1], tuple(map(str, range(classes))), half, half, "")


def even_partition(data: ImageData, clients: int) -> Partition:
    """As many images for each client."""
    train, test = (tuple(np.array_split(np.arange(len(y)), clients)) for y in (data.y_train, data.y_test))
    return Partition(train, test)


def load_row(model: nn.Module, row: Tensor) -> None:
    """Put a row of outagefl's, parameters and then floating-point buffers, into a network with the same layers."""
    tensors = [*model.parameters(), *(buffer for buffer in model.buffers() if buffer.is_floating_point())]
    with torch.no_grad():
        for tensor, part in zip(tensors, row.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))


def as_row(model: nn.Module) -> Tensor:
    """The other way round."""
    buffers = (buffer for buffer in model.buffers() if buffer.is_floating_point())
    return torch.cat([tensor.detach().flatten() for tensor in (*model.parameters(), *buffers)])


def flops(work: Callable[[], Any]) -> int:
    """Floating-point operations of the products and convolutions of a call."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def step_flops(model: nn.Module, shape: tuple[int, int, int], batch_size: int) -> int:
    """Of a training step: forward and backward."""
    height, width, channels = shape
    x, y = torch.zeros(batch_size, channels, height, width), torch.zeros(batch_size, dtype=torch.int64)
    return flops(lambda: cross_entropy(model.train()(x), y).backward())


def image_flops(model: nn.Module, shape: tuple[int, int, int]) -> int:
    """Of the evaluation of an image."""
    height, width, channels = shape
    with torch.inference_mode():
        return flops(lambda: model.eval()(torch.zeros(1, channels, height, width)))
