"""Prepared data sets: a folder of plain arrays that every job maps into memory instead of copying.

``x_train.npy x_test.npy`` uint8 (n, height, width, channels), C order; ``y_train.npy y_test.npy`` int64 (n,);
``info.json`` {name, classes, mean, std, note}. Mean and std are per channel, of the training images scaled to 0..1;
the note is what a reader of results must know about the data, or empty. Where the writer of every image is known, there
are also ``w_train.npy w_test.npy`` int64 (n,), indices into the names under ``writers`` in ``info.json``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components, files
from outagefl.errors import DataError
from outagefl.sources.boundary import faults_named

Split = tuple[NDArray[np.uint8], NDArray[np.int64]]  # images (n, height, width, channels), labels (n,)

ARRAYS = ("x_train", "y_train", "x_test", "y_test")
WRITERS = ("w_train", "w_test")
BLOCK = 1000  # images looked at together, to keep intermediate copies small


@dataclass(frozen=True)
class Writers:
    """Names of the writers, and whose every training and every test image (n,) is: an index into the names."""

    names: tuple[str, ...]
    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class ImageData:
    """A prepared data set; the arrays are read-only and memory-mapped."""

    x_train: NDArray[np.uint8]
    y_train: NDArray[np.int64]
    x_test: NDArray[np.uint8]
    y_test: NDArray[np.int64]
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    note: str
    writers: Writers | None = None


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Prepare the data set of ``spec`` (dataset) in the folder ``target``; needs a ``source`` if it is not bundled."""
    source = needs.get("source")
    prepare, options = components.load("dataset", spec["dataset"])
    with faults_named(source or spec["dataset"]["kind"]):
        prepare(source, target, **options)


def save(
    folder: Path,
    name: str,
    train: Split,
    test: Split,
    *,
    classes: Sequence[str],
    note: str = "",
    writers: Writers | None = None,
) -> None:
    """Write a prepared data set; ``folder`` appears complete or not at all, in place of an older one.

    Raises DataError if images, labels or writers break the format above.
    """
    for split, (x, y) in {"training": train, "test": test}.items():
        _check_images(f"{name}, {split} images", x)
        _check_numbers(f"{name}, {split} images: labels", y, len(x), len(classes))
    if train[0].shape[1:] != test[0].shape[1:]:
        raise DataError(f"{name}: training images have shape {train[0].shape[1:]}, test images {test[0].shape[1:]}")
    mean, std = channel_statistics(train[0])
    info = {"name": name, "classes": list(classes), "mean": mean.tolist(), "std": std.tolist(), "note": note}
    content = dict(zip(ARRAYS, (*train, *test), strict=True))
    if writers:
        _check_numbers(f"{name}, training images: writers", writers.train, len(train[1]), len(writers.names))
        _check_numbers(f"{name}, test images: writers", writers.test, len(test[1]), len(writers.names))
        info["writers"] = list(writers.names)
        content |= zip(WRITERS, (writers.train, writers.test), strict=True)
    with files.replacing(folder) as new:
        new.mkdir()
        for array, values in content.items():
            np.save(new / f"{array}.npy", np.ascontiguousarray(values))
        (new / "info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)


def load(folder: Path) -> ImageData:
    """Map a prepared data set; DataError if ``folder`` does not hold one."""
    try:
        info = json.loads((folder / "info.json").read_text(encoding="utf-8"))
        named = [*ARRAYS, *WRITERS] if "writers" in info else ARRAYS
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in named}
        writers = [arrays.pop(name) for name in WRITERS if name in arrays]
        return ImageData(
            **arrays,
            classes=tuple(info["classes"]),
            mean=tuple(info["mean"]),
            std=tuple(info["std"]),
            note=info["note"],
            writers=Writers(tuple(info["writers"]), *writers) if writers else None,
        )
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise DataError(f"{folder}: not a prepared data set ({type(error).__name__}: {error})") from error


def channel_statistics(images: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute mean and (population) standard deviation per channel, each (c,), of images (n, h, w, c) scaled to 0..1.

    Exact up to the last float64 operation: computed from how often each of the 256 values occurs.
    """
    counts = np.zeros((images.shape[-1], 256), dtype=np.int64)
    for start in range(0, len(images), BLOCK):
        for channel in range(len(counts)):
            counts[channel] += np.bincount(images[start : start + BLOCK, ..., channel].ravel(), minlength=256)
    share = counts / counts.sum(axis=1, keepdims=True)
    values = np.arange(256) / 255
    mean = share @ values
    return mean, np.sqrt((share * (values - mean[:, None]) ** 2).sum(axis=1))


def _check_images(what: str, x: NDArray[np.uint8]) -> None:
    if x.dtype != np.uint8 or x.ndim != 4 or x.size == 0:
        raise DataError(f"{what}: {x.dtype} of shape {x.shape}, expected uint8 (n, height, width, channels)")


def _check_numbers(what: str, numbers: NDArray[np.int64], images: int, limit: int) -> None:
    if numbers.dtype != np.int64 or numbers.shape != (images,):
        raise DataError(f"{what} are {numbers.dtype} of shape {numbers.shape}, expected int64 ({images},)")
    if numbers.min() < 0 or numbers.max() >= limit:
        raise DataError(f"{what} from {numbers.min()} to {numbers.max()}, expected 0 to {limit - 1}")
