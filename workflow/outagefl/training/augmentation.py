"""Random crop and horizontal flip, the usual augmentation of small colour images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from outagefl.training.devices import moved

PADDING = 4  # pixels of value 0 on each side


def draw_moves(groups: Sequence[int], rng: np.random.Generator, *, flip: bool) -> NDArray[np.int64]:
    """How images are to be moved, (3, n): rows of top, left and flip as in ``crop_and_flip``, flip being 0 or 1.

    All places of the crop are equally likely; with ``flip`` half of the images are mirrored. ``groups``: how many
    images, one after the other, have one draw each.
    """
    draws = rng.integers(0, [[2 * PADDING + 1], [2 * PADDING + 1], [2]], (3, len(groups)))
    draws[2] *= flip
    return draws.repeat(groups, axis=1)


def crop_and_flip(images: Tensor, top: NDArray[np.int64], left: NDArray[np.int64], flip: NDArray[np.bool_]) -> Tensor:
    """Pad images (n, H, W, C), cut (H, W) out again and mirror left and right where ``flip``; all arguments (n,).

    ``top`` and ``left``: where the cut begins in the padded image, ``PADDING`` being the middle.
    """
    _, height, width, _ = images.shape
    padded = pad(images, (0, 0, PADDING, PADDING, PADDING, PADDING))
    windows = padded.unfold(1, height, 1).unfold(2, width, 1).permute(0, 1, 2, 4, 5, 3)
    cropped = windows[tuple(moved(place, images.device) for place in (np.arange(len(images)), top, left))]
    return torch.where(moved(flip, images.device)[:, None, None, None], cropped.flip(2), cropped)
