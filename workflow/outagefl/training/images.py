"""From stored images to what a network takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from outagefl.datasets.arrays import ImageData
from outagefl.training.augmentation import augment


class ImageLoader:
    """Puts images of a data set on the device, normalised by its mean and standard deviation.

    The images (B, C, H, W) it makes lie in memory as (B, H, W, C), which is torch's channels-last format.
    """

    def __init__(self, data: ImageData, device: torch.device) -> None:
        std = torch.tensor(data.std, dtype=torch.float32, device=device)
        mean = torch.tensor(data.mean, dtype=torch.float32, device=device)
        self._scale, self._shift, self.device = 1 / (255 * std), -mean / std, device

    def plain(self, x: NDArray[np.uint8], chosen: NDArray[np.int64]) -> Tensor:
        """The images ``chosen`` (B,) of x (n, H, W, C) as they are."""
        return self._normalise(self._pixels(x, chosen)).permute(0, 3, 1, 2)

    def augmented(
        self,
        x: NDArray[np.uint8],
        batches: Sequence[NDArray[np.int64]],
        augmentation: str,
        flip: bool,
        rng: np.random.Generator,
    ) -> Tensor:
        """The images of ``batches``, arrays of indices (b,), in a row, cropped and, with ``flip``, mirrored at random.

        ``image``: each on its own and before normalisation, so that the padding is black (our choice). ``batch``: as in
        the released code of the FedSWE paper, all images of a batch alike and after normalisation.
        """
        pixels = self._pixels(x, np.concatenate(batches))
        if augmentation == "image":
            images = self._normalise(augment(pixels, rng, flip=flip))
        else:
            images = augment(self._normalise(pixels), rng, flip=flip, groups=[len(batch) for batch in batches])
        return images.permute(0, 3, 1, 2)

    def labels(self, y: NDArray[np.int64], chosen: NDArray[np.int64]) -> Tensor:
        """The labels ``chosen`` (B,) of y (n,)."""
        return torch.from_numpy(y[chosen]).to(self.device)

    def _pixels(self, x: NDArray[np.uint8], chosen: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(x[chosen]).to(self.device)

    def _normalise(self, pixels: Tensor) -> Tensor:
        return pixels.float().mul_(self._scale).add_(self._shift)
