"""Images of one's own in class folders: any classes, any size, grey or colour, but all alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath

from outagefl.datasets import image_folder
from outagefl.datasets.decoding import shape_of
from outagefl.datasets.published import Published, write
from outagefl.errors import DataError
from outagefl.sources import archive


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source``, an archive or folder of ``{train,test}/<class>/<n>.{png,jpg}``, to ``folder``.

    Labels follow the classes' names in alphabetical order; every class is in both parts. Raises DataError naming
    ``source`` and what is unfit, such as an image of another size than the first.
    """
    images = sorted(filter(image_folder.is_image, archive.names(source)))
    if not images:
        raise DataError(f"{source}: holds no {{train,test}}/<class>/<n>.png or .jpg")
    paths = [PurePosixPath(name) for name in images]
    parts = Counter(path.parts[-3] for path in paths)
    [(first, content)] = archive.members(source, {images[0]}.__contains__)
    published = Published(
        "images of one's own",
        tuple(sorted({path.parts[-2] for path in paths})),
        shape_of(content, f"{source}: {first}"),
        parts["train"],
        parts["test"],
    )
    write(published, [image_folder.form()], source, folder)
