"""SVHN, cropped digits (Netzer et al., Reading Digits in Natural Images with Unsupervised Feature Learning, 2011).

32×32 RGB, ten classes; the training and test parts, without the additional ``extra`` one.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePosixPath

import numpy as np

from outagefl.datasets import array_file, image_folder
from outagefl.datasets.arrays import Split
from outagefl.datasets.published import Form, Published, Reading, write
from outagefl.errors import DataError
from outagefl.sources import archive, mat

SVHN = Published("SVHN", tuple("0123456789"), (32, 32, 3), train=73_257, test=26_032)
FILES = ("train_32x32.mat", "test_32x32.mat")


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source`` to ``folder``: the two official files, class folders or an ``.npz`` file.

    Raises DataError naming ``source`` and what is unfit.
    """
    official = Form(" and ".join(FILES), _fits, _read)
    write(SVHN, [official, image_folder.form(), array_file.FORM], source, folder)


def _fits(names: Collection[str]) -> bool:
    return any(PurePosixPath(name).name in FILES for name in names)


def _read(source: Path, names: Collection[str], published: Published) -> Reading:
    found = {name: _split(content, f"{source}: {name}") for name, content in archive.files(source, FILES)}
    train, test = (found[name] for name in FILES)
    return Reading(train, test)


def _split(content: bytes, where: str) -> Split:
    """Read a MATLAB file of ``X``, uint8 (32, 32, 3, n), and ``y``, n digits with 10 for zero."""
    found = mat.load(content, where, ("X", "y"))
    x, y = found["X"], found["y"].ravel()
    digits = np.isin(y, range(1, 11))
    if x.dtype != np.uint8 or x.shape[:3] != SVHN.shape or x.shape[3:] != y.shape or not digits.all():
        raise DataError(
            f"{where}: X is {x.dtype} {x.shape}, y holds {digits.sum()} labels from 1 to 10 and {(~digits).sum()} "
            "others; expected X uint8 (32, 32, 3, n) and n such labels"
        )
    return x.transpose(3, 0, 1, 2), y.astype(np.int64) % 10
