"""The official archives of CIFAR-10 and CIFAR-100: pickled batches of images."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from outagefl.datasets.arrays import Split
from outagefl.datasets.published import Form, Published, Reading
from outagefl.errors import DataError
from outagefl.sources import archive, unpickle


def form(batches: Mapping[str, Sequence[str]], labels: bytes) -> Form:
    """The form of files called ``batches["train"]`` and ``batches["test"]`` with labels under the key ``labels``."""
    expected = [name for part in batches.values() for name in part]

    def fits(names: Collection[str]) -> bool:
        return any(PurePosixPath(name).name in expected for name in names)

    def read(source: Path, names: Collection[str], published: Published) -> Reading:
        found = {
            name: _batch(content, f"{source}: {name}", published, labels)
            for name, content in archive.files(source, expected)
        }
        train, test = (_joined([found.pop(name) for name in batches[part]]) for part in ("train", "test"))
        return Reading(train, test)

    return Form(f"the pickled batches {', '.join(expected)}", fits, read)


def _joined(batches: Sequence[Split]) -> Split:
    images, labels = zip(*batches, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def _batch(content: bytes, where: str, published: Published, key: bytes) -> Split:
    """Read a pickled dict of ``data``, uint8 (n, 3072), each row three colour planes, and a list of n labels."""
    batch = unpickle.load(content, where)
    height, width, channels = published.shape
    size = height * width * channels
    data, labels = (batch.get(name) for name in (b"data", key)) if isinstance(batch, dict) else (None, None)
    if (
        not isinstance(data, np.ndarray)
        or data.dtype != np.uint8
        or type(labels) is not list
        or data.shape != (len(labels), size)
        or not all(type(label) is int and 0 <= label < len(published.classes) for label in labels)
    ):
        raise DataError(
            f"{where}: not a {published.name} batch; expected data uint8 (n, {size}) and a list of n labels "
            f"from 0 to {len(published.classes) - 1}"
        )
    return data.reshape(-1, channels, height, width).transpose(0, 2, 3, 1), np.array(labels, dtype=np.int64)
