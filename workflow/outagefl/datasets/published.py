"""What was published of a data set, and how to write it from whichever form it comes in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from outagefl.datasets import arrays
from outagefl.datasets.arrays import Split
from outagefl.errors import DataError
from outagefl.sources import archive


@dataclass(frozen=True)
class Published:
    """A data set as it was published: classes in the order of their labels, shape of an image, number of images."""

    name: str
    classes: tuple[str, ...]
    shape: tuple[int, int, int]  # height, width, channels
    train: int
    test: int


@dataclass(frozen=True)
class Reading:
    """The images of a source, and what a reader of results must know about them."""

    train: Split
    test: Split
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A form that a source can have: what it looks like, whether names of files fit, and how to read it.

    ``read`` gets the source, the names of the files in it and the data set it must be.
    """

    looks: str
    fits: Callable[[Collection[str]], bool]
    read: Callable[[Path, Collection[str], Published], Reading]


def write(published: Published, forms: Sequence[Form], source: Path, folder: Path) -> None:
    """Write the images of ``source``, an archive or folder in one of ``forms``, to the prepared folder ``folder``.

    The note also says when images are missing. Raises DataError naming ``source`` and what is unfit.
    """
    names = archive.names(source)
    form = next((form for form in forms if form.fits(names)), None)
    if form is None:
        raise DataError(f"{source}: holds neither {' nor '.join(form.looks for form in forms)}")
    found = form.read(source, names, published)
    notes = list(found.notes)
    for what, (x, y) in {"training": found.train, "test": found.test}.items():
        if not len(y):
            raise DataError(f"{source}: holds no {what} images")
        if x.shape[1:] != published.shape:
            raise DataError(f"{source}: {what} images of shape {x.shape[1:]}, expected {published.shape}")
        if not 0 <= y.min() <= y.max() < len(published.classes):
            expected = len(published.classes) - 1
            raise DataError(f"{source}: {what} labels from {y.min()} to {y.max()}, expected 0 to {expected}")
    train, test = len(found.train[1]), len(found.test[1])
    if (train, test) != (published.train, published.test):
        notes.append(f"not the whole data set: {train} training and {test} test images")
    arrays.save(folder, published.name, found.train, found.test, classes=published.classes, note="; ".join(notes))
