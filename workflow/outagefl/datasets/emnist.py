"""EMNIST Balanced (Cohen et al., EMNIST: an extension of MNIST to handwritten letters, 2017): 28×28 grey, 47 classes.

Classes are characters; fifteen letters whose two cases look alike have one class, named by the capital. The official
files hold every image transposed; here all are upright. Where they cannot be had, the much smaller test part of EMNIST
ByMerge, which has the same classes, stands in for them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from outagefl.datasets import array_file, image_folder
from outagefl.datasets.arrays import Split
from outagefl.datasets.published import Form, Published, Reading, write
from outagefl.errors import DataError
from outagefl.randomness import generator
from outagefl.sources import archive, idx, npy

CLASSES = tuple("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghnqrt")
EMNIST = Published("EMNIST Balanced", CLASSES, (28, 28, 1), train=112_800, test=18_800)
TRAIN, TEST = 2400, 400  # images of a class in EMNIST Balanced
FILES = {
    part: {what: f"emnist-balanced-{part}-{what}-ubyte" for what in ("images-idx3", "labels-idx1")}
    for part in ("train", "test")
}


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source`` to ``folder``.

    It is the official ``gzip.zip`` or a folder with its four files, an ``.npz`` file of EMNIST ByMerge (``x``, upright,
    ``y`` and ``mapping``), class folders, or an ``.npz`` file of both parts. Raises DataError naming ``source`` and
    what is unfit.
    """
    official = Form(f"{FILES['train']['images-idx3']}.gz, …", lambda names: bool(_official(names)), _read_official)
    merged = Form("x, y, mapping in an .npz", {"x.npy", "y.npy", "mapping.npy"}.issubset, _read_merged)
    write(EMNIST, [official, merged, image_folder.form(), array_file.FORM], source, folder)


def balanced(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a training and a test part, always the same: indices into ``labels`` (n,), rising.

    Of every class at most 2,400 training and 400 test images as in EMNIST Balanced; a class with fewer images is
    divided in the same proportion.
    """
    rng = generator(0, "emnist test split")
    train, test = [], []
    for label in range(len(CLASSES)):
        own = rng.permutation(np.flatnonzero(labels == label))[: TRAIN + TEST]
        cut = round(len(own) * TEST / (TRAIN + TEST))
        test.append(own[:cut])
        train.append(own[cut:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def _official(names: Collection[str]) -> dict[str, str]:
    """Place of each official file in the source → its official name, without ``.gz``."""
    known = {name for files in FILES.values() for name in files.values()}
    called = {place: PurePosixPath(place).name.removesuffix(".gz") for place in names}
    return {place: name for place, name in called.items() if name in known}


def _read_official(source: Path, names: Collection[str], published: Published) -> Reading:
    present = _official(names)
    found: dict[str, NDArray[np.uint8]] = {}
    for place, content in archive.members(source, present.__contains__):
        where = f"{source}: {place}"
        if present[place] in found:
            raise DataError(f"{where}: a second {present[place]}; expected one")
        unpacked = archive.gunzip(content, where) if content.startswith(b"\x1f\x8b") else content
        found[present[place]] = idx.load(unpacked, where)
    return Reading(_upright(source, found, "train"), _upright(source, found, "test"))


def _upright(source: Path, found: Mapping[str, NDArray[np.uint8]], part: str) -> Split:
    if missing := [name for name in FILES[part].values() if name not in found]:
        raise DataError(f"{source}: lacks {', '.join(missing)}")
    x, y = (found[name] for name in FILES[part].values())
    if x.ndim != 3:
        raise DataError(f"{source}: {FILES[part]['images-idx3']} has shape {x.shape}, expected (n, 28, 28)")
    return array_file.split(source, x.transpose(0, 2, 1), y)


def _read_merged(source: Path, names: Collection[str], published: Published) -> Reading:
    found = npy.archived(source, ("x", "y", "mapping"))
    if not np.array_equal(found["mapping"].ravel(), [ord(name) for name in published.classes]):
        raise DataError(
            f"{source}: its mapping is not that of EMNIST ByMerge, the codes of {''.join(published.classes)}"
        )
    x, y = array_file.split(source, found["x"], found["y"])
    if len(y) and (y.min() < 0 or y.max() >= len(CLASSES)):
        raise DataError(f"{source}: labels from {y.min()} to {y.max()}, expected 0 to {len(CLASSES) - 1}")
    train, test = balanced(y)
    return Reading((x[train], y[train]), (x[test], y[test]), ("drawn from the test part of EMNIST ByMerge",))
