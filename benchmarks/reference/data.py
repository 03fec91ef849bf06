"""A data set as torchvision's are: images one by one, through a chain of transforms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision import transforms


class Images(Dataset[tuple[Tensor, int]]):
    """Images (n, H, W, C) and labels (n,)."""

    def __init__(self, x: NDArray[np.uint8], y: NDArray[np.int64], transform: transforms.Compose) -> None:
        self.x, self.y, self.transform = x, y.tolist(), transform

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        """The image as a tensor (C, H, W), and its label."""
        return self.transform(Image.fromarray(self.x[index].squeeze())), self.y[index]


def transform(mean: Sequence[float], std: Sequence[float], augment: bool) -> transforms.Compose:
    """To a normalised tensor; ``augment``: cropped and mirrored at random first."""
    chain = [transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip()] if augment else []
    return transforms.Compose([*chain, transforms.ToTensor(), transforms.Normalize(mean, std)])


Loader = DataLoader[tuple[Tensor, int]]


def loader(images: Images, own: NDArray[np.int64], batch_size: int, drop_last: bool) -> Loader:
    """A client's batches, in a new order in every epoch."""
    size = min(batch_size, len(own))
    return DataLoader(Subset(images, own.tolist()), batch_size=size, shuffle=True, drop_last=drop_last)
