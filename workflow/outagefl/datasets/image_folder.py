"""Images sorted into class folders, ``{train,test}/<class>/<n>.{png,jpg}``: the layout of many image archives."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from outagefl.datasets.arrays import Split
from outagefl.datasets.decoding import decode
from outagefl.datasets.published import Form, Published, Reading
from outagefl.errors import DataError, unknown
from outagefl.sources import archive

SPLITS = ("train", "test")
SUFFIXES = (".png", ".jpg", ".jpeg")


def form(*also: str) -> Form:
    """The form of class folders; images of the Pillow modes ``also`` are accepted and converted."""
    return Form(
        "{train,test}/<class>/<n>.png or .jpg", lambda names: any(map(is_image, names)), partial(read, also=also)
    )


def is_image(name: str) -> bool:
    """Whether a file's name has the form ``[…/]{train,test}/<class>/<n>.{png,jpg}`` (hidden files aside)."""
    path = PurePosixPath(name)
    return (
        len(path.parts) >= 3
        and path.parts[-3] in SPLITS
        and path.suffix.lower() in SUFFIXES
        and not path.name.startswith(".")
    )


def read(source: Path, names: Collection[str], published: Published, *, also: Collection[str] = ()) -> Reading:
    """Read the images of ``published`` from class folders called by its classes.

    Images are in the order of the classes, within a class in that of the numbers in the file names. Since the names are
    known before, every image goes straight to its place: no more is in memory than the arrays and one image. The notes
    say whether images went through JPEG and how many were converted. Raises DataError naming ``source`` and the image
    or class that is unfit.
    """
    splits: dict[str, Split] = {}
    places: dict[str, tuple[str, int]] = {}
    for split in SPLITS:
        ordered, labels = _order(source, split, names, published)
        splits[split] = (np.empty((len(ordered), *published.shape), dtype=np.uint8), labels)
        places |= {name: (split, index) for index, name in enumerate(ordered)}
    jpeg, converted = False, 0
    for name, content in archive.members(source, places.__contains__):
        picture = decode(content, f"{source}: {name}", published.shape, also)
        split, index = places.pop(name)
        splits[split][0][index] = picture.pixels
        jpeg |= picture.jpeg
        converted += picture.converted
    if places:
        raise DataError(f"{source}: changed while it was read; {next(iter(places))} is gone")
    notes = ["images JPEG-recompressed"] if jpeg else []
    if converted:
        notes.append(f"{converted} images converted to {published.shape[2]} channels")
    return Reading(splits["train"], splits["test"], tuple(notes))


def _order(
    source: Path, split: str, names: Collection[str], published: Published
) -> tuple[list[str], NDArray[np.int64]]:
    """The names of a split's images in the order of the arrays, and their labels."""
    own = {name for name in names if is_image(name) and PurePosixPath(name).parts[-3] == split}
    if not own:
        raise DataError(f"{source}: no images in {split}/<class>/")
    labels = {name: label for label, name in enumerate(published.classes)}
    classes = {PurePosixPath(name).parent.name for name in own}
    for name in sorted(classes):
        if name not in labels:
            raise DataError(f"{source}: {split}/: {unknown(f'class of {published.name}', name, labels)}")
    if missing := [name for name in published.classes if name not in classes]:
        raise DataError(f"{source}: {split}/ lacks the classes {', '.join(missing)}")
    ordered = sorted(own, key=lambda name: (labels[PurePosixPath(name).parent.name], _numeric(name), name))
    return ordered, np.array([labels[PurePosixPath(name).parent.name] for name in ordered], dtype=np.int64)


def _numeric(name: str) -> list[str | tuple[int, str]]:
    """Sort key under which ``2.png`` comes before ``10.png``: text and numbers in turns, numbers of any length."""
    parts = enumerate(re.split("0*([0-9]+)", name))
    return [(len(part), part) if place % 2 else part for place, part in parts]
