"""Handwritten digits bundled with scikit-learn: 1,797 images of 8×8, no network needed.

Test part of Alpaydın and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository (1998).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from outagefl.datasets import arrays
from outagefl.randomness import generator

TEST_SHARE = 0.2  # our choice: the bundled images come without a split


def prepare(source: Path | None, folder: Path) -> None:
    """Write the digits as (n, 8, 8, 1), grey values 0..16 stretched to 0..255, to ``folder``; ``source`` is not used.

    The split is the same always: a fifth of every class, drawn at random, is the test part.
    """
    bundled = load_digits()
    x = np.rint(bundled.images[..., None] * (255 / 16)).astype(np.uint8)
    y = bundled.target.astype(np.int64)
    shuffled = generator(0, "digits test split").permutation(len(y))
    per_class = [shuffled[y[shuffled] == digit] for digit in range(10)]
    is_test = np.zeros(len(y), dtype=bool)
    is_test[np.concatenate([images[: round(TEST_SHARE * len(images))] for images in per_class])] = True
    arrays.save(
        folder,
        "digits",
        train=(x[~is_test], y[~is_test]),
        test=(x[is_test], y[is_test]),
        classes=[str(digit) for digit in range(10)],
    )
