"""CIFAR-10 (Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009): 32×32 RGB, ten classes.

Two forms are read: the official ``cifar-10-python.tar.gz``, and any archive or folder of class folders,
``{train,test}/<class>/<n>.png`` or ``.jpg``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path, PurePosixPath

import numpy as np

from outagefl.datasets import arrays, image_folder
from outagefl.datasets.arrays import Split
from outagefl.errors import DataError
from outagefl.sources import archive, unpickle

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIZE = (32, 32)
BATCHES = {"train": [f"data_batch_{number}" for number in range(1, 6)], "test": ["test_batch"]}
IMAGES = {"train": 50_000, "test": 10_000}


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source``, an archive or folder told by its content, to ``folder``.

    The classes are in the official order. The note says whether images went through JPEG and whether some are missing.
    Raises DataError naming ``source`` and what is unfit.
    """
    members = archive.members(source, lambda name: _is_batch(name) or image_folder.is_image(name))
    first = next(members, None)
    if first is None:
        raise DataError(f"{source}: holds neither data_batch_1, … nor {{train,test}}/<class>/<n>.png or .jpg")
    members = chain([first], members)
    if _is_batch(first[0]):
        splits, notes = _read_batches(members, source), []
    else:
        splits, classes, jpeg = image_folder.read(members, source, SIZE)
        if classes != CLASSES:
            raise DataError(f"{source}: its classes are {', '.join(classes)}; expected {', '.join(CLASSES)}")
        notes = ["images JPEG-recompressed"] if jpeg else []
    counts = {split: len(y) for split, (_, y) in splits.items()}
    if counts != IMAGES:
        notes.append(f"not the whole data set: {counts['train']} training and {counts['test']} test images")
    arrays.save(folder, "CIFAR-10", splits["train"], splits["test"], classes=CLASSES, note="; ".join(notes))


def _is_batch(name: str) -> bool:
    return PurePosixPath(name).name in [*BATCHES["train"], *BATCHES["test"]]


def _read_batches(members: Iterable[tuple[str, bytes]], source: Path) -> dict[str, Split]:
    batches = {PurePosixPath(name).name: _read_batch(content, f"{source}: {name}") for name, content in members}
    if missing := [name for names in BATCHES.values() for name in names if name not in batches]:
        raise DataError(f"{source}: lacks {', '.join(missing)}")
    splits = {}
    for split, names in BATCHES.items():
        images, labels = zip(*(batches.pop(name) for name in names), strict=True)
        splits[split] = (np.concatenate(images), np.concatenate(labels))
    return splits


def _read_batch(content: bytes, where: str) -> Split:
    """Read a pickled dict of ``data``, uint8 (n, 3072), each row three colour planes, and ``labels``, n ints."""
    batch = unpickle.load(content, where)
    try:
        data, labels = batch[b"data"], np.array(batch[b"labels"], dtype=np.int64)
        fits = data.dtype == np.uint8 and data.shape == (len(labels), 3072)
        fits = fits and bool(((labels >= 0) & (labels < len(CLASSES))).all())
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{where}: not a CIFAR-10 batch: {error!r}") from error
    if not fits:
        raise DataError(f"{where}: not a CIFAR-10 batch; expected data uint8 (n, 3072) and n labels from 0 to 9")
    return data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels
