"""Images of one's own in class folders: any classes, any size, grey or colour, but all alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from outagefl.datasets import image_folder
from outagefl.datasets.decoding import shape_of
from outagefl.datasets.published import Published, write
from outagefl.errors import DataError
from outagefl.sources import archive

EXPECTED = "{train,test}/<class>/<n>.png or .jpg"


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source``, an archive or folder of ``{train,test}/<class>/<n>.{png,jpg}``, to ``folder``.

    Labels follow the classes' names in alphabetical order; every class is in both parts. Raises DataError naming
    ``source`` and what is unfit, such as an image of another size than the first.
    """
    names = archive.names(source)
    images = sorted(filter(image_folder.is_image, names))
    if not images:
        raise DataError(f"{source}: holds no {EXPECTED}")
    paths = [PurePosixPath(name) for name in images]
    _require_nothing_else(source, names, paths)
    parts = Counter(path.parts[-3] for path in paths)
    [(first, content)] = archive.members(source, {images[0]}.__contains__)
    classes = tuple(sorted({path.parts[-2] for path in paths}))
    if len(classes) < 2:
        raise DataError(f"{source}: holds the one class {classes[0]}; expected two or more")
    published = Published(
        "images of one's own",
        classes,
        shape_of(content, f"{source}: {first}"),
        parts["train"],
        parts["test"],
    )
    write(published, [image_folder.form()], source, folder)


def _require_nothing_else(source: Path, names: Collection[str], images: Sequence[PurePosixPath]) -> None:
    """Raise DataError for a file beside the images, hidden ones aside, and for images in several places."""
    tops = {path.parts[:-3] for path in images}
    if len(tops) > 1:
        one, other = ("/".join((*top, "train")) for top in sorted(tops)[:2])
        raise DataError(f"{source}: holds images below {one} and below {other}; expected one place")
    for path in sorted({PurePosixPath(name) for name in names} - set(images)):
        within = set(image_folder.SPLITS).intersection(path.parts[:-1])
        if within and not any(part.startswith(".") for part in path.parts):
            raise DataError(f"{source}: {path}: expected {EXPECTED}")
