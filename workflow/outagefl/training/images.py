"""From stored images to what a network takes."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from outagefl.datasets.arrays import ImageData
from outagefl.training.augmentation import crop_and_flip
from outagefl.training.devices import moved

_copies: dict[tuple[int, torch.device], Tensor] = {}


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """A copy of a whole array on the device: the same for all who ask, for as long as the array itself lives."""
    key = (id(array), device)
    if key not in _copies:
        _copies[key] = torch.from_numpy(np.array(array)).to(device)
        weakref.finalize(array, _copies.pop, key)
    return _copies[key]


class ImageLoader:
    """Puts images of a data set on the device, normalised by its mean and standard deviation.

    The images (…, C, H, W) it makes lie in memory as (…, H, W, C), which is torch's channels-last format. On a CPU they
    are read from the arrays, which may be mapped files; a GPU keeps the arrays as a whole, see ``on_device``.
    """

    def __init__(self, data: ImageData, device: torch.device) -> None:
        std = torch.tensor(data.std, dtype=torch.float32, device=device)
        mean = torch.tensor(data.mean, dtype=torch.float32, device=device)
        self._scale, self._shift, self.device = 1 / (255 * std), -mean / std, device
        self._keeps = device.type != "cpu"

    def plain(self, x: NDArray[np.uint8], chosen: NDArray[np.int64]) -> Tensor:
        """The images ``chosen``, (B,) or (k, b), of x (n, H, W, C) as they are."""
        return self._normalise(self._taken(x, chosen)).movedim(-1, -3)

    def augmented(
        self, x: NDArray[np.uint8], chosen: NDArray[np.int64], augmentation: str, moves: NDArray[np.int64]
    ) -> Tensor:
        """The images ``chosen`` (B,), cropped and mirrored by ``moves`` (3, B), see ``outagefl.training.augmentation``.

        ``image``: before normalisation, so that the padding is black (our choice). ``batch``: as in the released code
        of the FedSWE paper, after normalisation.
        """
        top, left, flip = moves
        pixels = self._taken(x, chosen)
        if augmentation == "image":
            images = self._normalise(crop_and_flip(pixels, top, left, flip == 1))
        else:
            images = crop_and_flip(self._normalise(pixels), top, left, flip == 1)
        return images.movedim(-1, -3)

    def labels(self, y: NDArray[np.int64], chosen: NDArray[np.int64]) -> Tensor:
        """The labels ``chosen``, (B,) or (k, b), of y (n,)."""
        return self._taken(y, chosen)

    def _taken(self, array: NDArray[Any], chosen: NDArray[np.int64]) -> Tensor:
        if self._keeps:
            return on_device(array, self.device)[moved(chosen, self.device)]
        return torch.from_numpy(array[chosen])

    def _normalise(self, pixels: Tensor) -> Tensor:
        return pixels.float().mul_(self._scale).add_(self._shift)
