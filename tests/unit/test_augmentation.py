"""Random crop and flip: single images by hand, what is drawn, and when it is done."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from outagefl.datasets.arrays import ImageData
from outagefl.training.augmentation import PADDING, crop_and_flip, draw_moves
from outagefl.training.images import ImageLoader

CPU = torch.device("cpu")
IMAGE = torch.arange(1, 13, dtype=torch.uint8).view(1, 2, 3, 2)  # 2×3 pixels of two channels


def augment(
    images: torch.Tensor, rng: np.random.Generator, *, flip: bool, groups: list[int] | None = None
) -> torch.Tensor:
    """Images moved by draws for each of them, or for each of the ``groups`` they are in."""
    top, left, mirrored = draw_moves(groups or [1] * len(images), rng, flip=flip)
    return crop_and_flip(images, top, left, mirrored == 1)


def moved(down: int, right: int, flip: bool) -> list[list[int]]:
    """The first channel of IMAGE, its content moved down and to the right, then flipped."""
    moves = (np.array([PADDING - down]), np.array([PADDING - right]), np.array([flip]))
    return crop_and_flip(IMAGE, *moves)[0, :, :, 0].tolist()


@pytest.mark.parametrize(
    ("down", "right", "flip", "expected"),
    [
        (0, 0, False, [[1, 3, 5], [7, 9, 11]]),
        (0, 0, True, [[5, 3, 1], [11, 9, 7]]),
        (1, 0, False, [[0, 0, 0], [1, 3, 5]]),
        (-1, 0, False, [[7, 9, 11], [0, 0, 0]]),
        (0, 2, False, [[0, 0, 1], [0, 0, 7]]),
        (0, 2, True, [[1, 0, 0], [7, 0, 0]]),
        (1, -1, True, [[0, 0, 0], [0, 5, 3]]),
        (4, 4, False, [[0, 0, 0], [0, 0, 0]]),
    ],
)
def test_one_image_by_hand(down: int, right: int, flip: bool, expected: list[list[int]]) -> None:
    assert moved(down, right, flip) == expected


def test_every_image_is_moved_on_its_own_with_all_its_channels() -> None:
    images = IMAGE.repeat(3, 1, 1, 1)
    moves = ([PADDING, PADDING, PADDING - 1], [PADDING + 1, PADDING, PADDING], [False, True, False])
    found = crop_and_flip(images, *(np.array(move) for move in moves))
    expected = [
        [[[3, 4], [5, 6], [0, 0]], [[9, 10], [11, 12], [0, 0]]],
        [[[5, 6], [3, 4], [1, 2]], [[11, 12], [9, 10], [7, 8]]],
        [[[0, 0], [0, 0], [0, 0]], [[1, 2], [3, 4], [5, 6]]],
    ]
    assert found.tolist() == expected
    assert torch.equal(images, IMAGE.repeat(3, 1, 1, 1))


def test_all_places_and_both_directions_are_drawn_equally_often() -> None:
    """The pixel that comes to lie in the middle of a 9×9 image tells the place, its neighbours tell the direction."""
    image = torch.arange(1, 82, dtype=torch.uint8).view(1, 9, 9, 1)
    found = augment(image.repeat(8100, 1, 1, 1), np.random.default_rng(0), flip=True)[:, 4, :, 0].int()
    before, middle, after = found[:, 3], found[:, 4], found[:, 5]
    flipped = (before == middle + 1) | (after == middle - 1)
    counts = np.bincount(2 * (middle.numpy() - 1) + flipped.numpy())
    assert len(counts) == 162
    assert 15 < counts.min() < 50 < counts.max() < 95


@pytest.mark.parametrize("sizes", [[1] * 60, [3] * 20, [20, 30, 10]])
def test_a_draw_is_shared_by_as_many_images_as_asked_for(sizes: list[int]) -> None:
    found = augment(IMAGE.repeat(60, 1, 1, 1), np.random.default_rng(0), flip=True, groups=sizes)
    groups = found.split(sizes)
    assert all((group == group[0]).all() for group in groups)
    assert any((one[0] != other[0]).any() for one, other in pairwise(groups))


def test_draws_belong_to_the_generator() -> None:
    images = IMAGE.repeat(20, 1, 1, 1)
    first, again, other = (augment(images, np.random.default_rng(seed), flip=True) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_padding_is_black_for_images_and_the_mean_for_batches() -> None:
    """White images under mean 0.5 and standard deviation 0.25 are 2, black is −2."""
    white = np.full((40, 6, 6, 1), 255, dtype=np.uint8)
    labels = np.zeros(40, dtype=np.int64)
    load = ImageLoader(ImageData(white, labels, white, labels, ("a",), (0.5,), (0.25,), ""), CPU)
    for augmentation, padding, groups in (("image", -2, [1] * 40), ("batch", 0, [10] * 4)):
        moves = draw_moves(groups, np.random.default_rng(0), flip=True)
        found = load.augmented(white, np.arange(40), augmentation, moves)
        assert found.unique().tolist() == sorted([padding, 2])
        assert found.is_contiguous(memory_format=torch.channels_last)
        steps = found.view(4, 10, 6, 6)
        assert all(len(step.unique(dim=0)) == 1 for step in steps) is (augmentation == "batch")
        assert len(steps[:, 0].unique(dim=0)) > 1


def test_without_flip_nothing_is_mirrored():
    images = torch.rand(1, 8, 8, 3, generator=torch.Generator().manual_seed(0)).repeat(200, 1, 1, 1) + 0.1
    plain, turned = (augment(images, np.random.default_rng(0), flip=flip) for flip in (False, True))
    same = (plain == turned).flatten(1).all(dim=1)
    assert 60 < same.sum() < 140
    assert (plain[~same].flip(2) == turned[~same]).all()
