"""Encoded pictures to pixels."""

from __future__ import annotations

import io
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from outagefl.errors import DataError

FORMATS = ("PNG", "JPEG")
MODES = {1: "L", 3: "RGB"}  # channels → Pillow's name


@dataclass(frozen=True)
class Picture:
    """Pixels (height, width, channels); whether they went through JPEG, and whether the channels were converted."""

    pixels: NDArray[np.uint8]
    jpeg: bool
    converted: bool


def shape_of(content: bytes, where: str) -> tuple[int, int, int]:
    """Height, width and channels of a PNG or JPEG, grey or RGB; DataError, naming ``where`` it is."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            width, height, mode = *image.size, image.mode
    except Exception as error:  # a damaged picture can raise almost anything
        raise DataError(f"{where}: cannot be read as PNG or JPEG: {error}") from error
    channels = next((channels for channels, name in MODES.items() if name == mode), None)
    if channels is None:
        raise DataError(f"{where}: an image of mode {mode}, expected {' (grey) or '.join(MODES.values())}")
    return height, width, channels


def decode(content: bytes, where: str, shape: tuple[int, int, int], also: Collection[str] = ()) -> Picture:
    """Decode a PNG or JPEG that must have ``shape`` (height, width, 1: grey or 3: RGB).

    Pictures of the Pillow modes ``also`` are converted. Raises DataError, naming ``where`` the picture comes from, for
    any other mode or size, before anything is unpacked, and for what cannot be decoded.
    """
    height, width, channels = shape
    mode = MODES[channels]
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.size != (width, height) or image.mode not in (mode, *also):
                raise DataError(
                    f"{where}: {image.mode} of {image.size}, expected {mode} of {(width, height)} (width, height)"
                )
            pixels = np.asarray(image if image.mode == mode else image.convert(mode))
            return Picture(pixels.reshape(shape), image.format == "JPEG", image.mode != mode)
    except UnidentifiedImageError:
        raise DataError(f"{where}: neither PNG nor JPEG, or damaged in its first bytes") from None
    except DataError:
        raise
    except Exception as error:  # a damaged picture can raise almost anything
        raise DataError(f"{where}: cannot be decoded: {error}") from error
