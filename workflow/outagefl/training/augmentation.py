"""Random crop and horizontal flip, the usual augmentation of small colour images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

PADDING = 4  # pixels of value 0 on each side


def augment(images: Tensor, rng: np.random.Generator, *, flip: bool, groups: Sequence[int] | None = None) -> Tensor:
    """Crop images (n, H, W, C) at random and, with ``flip``, mirror half of them.

    All places of the crop are equally likely. ``groups``: how many images, one after the other, have one draw each.
    """
    sizes = [1] * len(images) if groups is None else groups
    draws = rng.integers(0, [[2 * PADDING + 1], [2 * PADDING + 1], [2]], (3, len(sizes)))
    top, left, mirrored = draws.repeat(sizes, axis=1)
    return crop_and_flip(images, top, left, (mirrored == 1) & flip)


def crop_and_flip(images: Tensor, top: NDArray[np.int64], left: NDArray[np.int64], flip: NDArray[np.bool_]) -> Tensor:
    """Pad images (n, H, W, C), cut (H, W) out again and mirror left and right where ``flip``; all arguments (n,).

    ``top`` and ``left``: where the cut begins in the padded image, ``PADDING`` being the middle.
    """
    _, height, width, _ = images.shape
    padded = pad(images, (0, 0, PADDING, PADDING, PADDING, PADDING))
    windows = padded.unfold(1, height, 1).unfold(2, width, 1).permute(0, 1, 2, 4, 5, 3)
    places = (torch.from_numpy(place).to(images.device) for place in (np.arange(len(images)), top, left))
    cropped = windows[tuple(places)]
    mirrored = torch.from_numpy(flip).to(images.device)
    cropped[mirrored] = cropped[mirrored].flip(2)
    return cropped
