"""Images sorted into class folders, ``{train,test}/<class>/<n>.{png,jpg}``: the layout of many image archives."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image, UnidentifiedImageError

from outagefl.datasets.arrays import Split
from outagefl.errors import DataError

SPLITS = ("train", "test")
SUFFIXES = (".png", ".jpg", ".jpeg")

UNDECODABLE = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)


def is_image(name: str) -> bool:
    """Whether a file's name has the form ``[…/]{train,test}/<class>/<n>.{png,jpg}`` (hidden files aside)."""
    path = PurePosixPath(name)
    return (
        len(path.parts) >= 3
        and path.parts[-3] in SPLITS
        and path.suffix.lower() in SUFFIXES
        and not path.name.startswith(".")
    )


def read(
    members: Iterable[tuple[str, bytes]], source: Path, size: tuple[int, int]
) -> tuple[dict[str, Split], tuple[str, ...], bool]:
    """Decode the images of an archive, given as name and content.

    Returns the splits ``train`` and ``test``, the class names in alphabetical order (label = place in it), and whether
    any image is a JPEG. Within a class the order is that of the numbers in the file names. All images must be RGB of
    ``size`` (width, height). Raises DataError naming ``source`` and the image or classes that are unfit.

    The encoded images are kept until all are known, so that the arrays can be made at their final size.
    """
    encoded: dict[str, dict[str, bytes]] = {split: {} for split in SPLITS}
    for name, content in members:
        encoded[PurePosixPath(name).parts[-3]][name] = content
    classes = {split: {PurePosixPath(name).parent.name for name in encoded[split]} for split in SPLITS}
    for split, other in zip(SPLITS, reversed(SPLITS), strict=True):
        if not classes[split]:
            raise DataError(f"{source}: no images in {split}/<class>/")
        if missing := sorted(classes[other] - classes[split]):
            raise DataError(f"{source}: {split}/ lacks classes that {other}/ has: {', '.join(missing)}")
    names = tuple(sorted(classes["train"]))
    labels = {name: label for label, name in enumerate(names)}
    jpeg = False
    splits = {}
    for split in SPLITS:
        ordered = sorted(encoded[split], key=lambda name: (PurePosixPath(name).parent.name, _numeric(name)))
        x = np.empty((len(ordered), size[1], size[0], 3), dtype=np.uint8)
        y = np.empty(len(ordered), dtype=np.int64)
        for index, name in enumerate(ordered):
            x[index], kind = _decode(encoded[split].pop(name), f"{source}: {name}", size)
            y[index] = labels[PurePosixPath(name).parent.name]
            jpeg = jpeg or kind == "JPEG"
        splits[split] = (x, y)
    return splits, names, jpeg


def _numeric(name: str) -> list[str | int]:
    """Sort key under which ``2.png`` comes before ``10.png``: text and numbers in turns."""
    return [int(part) if place % 2 else part for place, part in enumerate(re.split(r"(\d+)", name))]


def _decode(content: bytes, where: str, size: tuple[int, int]) -> tuple[np.ndarray, str | None]:
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as image:
            if image.size != size or image.mode != "RGB":
                raise DataError(f"{where}: {image.mode} of {image.size}, expected RGB of {size} (width, height)")
            return np.asarray(image), image.format
    except UnidentifiedImageError:
        raise DataError(f"{where}: neither PNG nor JPEG, or damaged in its first bytes") from None
    except UNDECODABLE as error:
        raise DataError(f"{where}: cannot be decoded: {error}") from error
