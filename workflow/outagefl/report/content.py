"""Figures and tables as the page holds them: read from their files, and no longer dependent on these."""

from __future__ import annotations

import base64
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from outagefl.analysis.style import PIXELS_PER_INCH
from outagefl.analysis.writers import DASH
from outagefl.errors import DataError

PNG, PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
SHARPNESS = PIXELS_PER_INCH / 100  # pixels of a figure for one of the page
TABLE = re.compile(r"<table.*</table>", re.DOTALL)
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d+)?")  # as CSV files have them; ``00`` and ``NA`` are names
TAG = re.compile(r"<[^>]*>")  # in text, both are escaped
LOOKS = re.compile(r'\s(?:id|class|style|border)="[^"]*"')  # of tags


@dataclass(frozen=True)
class Image:
    """A figure: a ``data:`` address with all of it, and its size in pixels."""

    address: str
    width: int
    height: int

    @property
    def shown(self) -> tuple[int, int]:
        """Its width and height on a screen, at which letters have the size of the text around."""
        return round(self.width / SHARPNESS), round(self.height / SHARPNESS)


def image(path: Path) -> Image:
    """The figure in a PNG file; DataError for one that is missing or damaged."""
    content = _read(path)
    if not (content.startswith(PNG) and content.endswith(PNG_END)):
        raise DataError(f"{path}: not a whole PNG image; delete it and start the workflow again")
    width, height = struct.unpack(">II", content[16:24])
    return Image(f"data:image/png;base64,{base64.b64encode(content).decode()}", width, height)


def table(path: Path) -> Markup:
    """The table in a page of ``writers.write_html``, without its looks; DataError where there is none."""
    found = TABLE.search(_read(path).decode("utf-8", "replace"))
    if not found:
        raise DataError(f"{path}: holds no table; delete it and start the workflow again")
    return _plain(found[0])


def csv_table(path: Path) -> Markup:
    """The values in a CSV file as a table, to five digits; DataError for a file that is none."""
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a CSV file with a table ({error})") from None
    return frame_table(text.apply(_short).replace("", DASH), names=False)


def frame_table(frame: pd.DataFrame, *, names: bool = True) -> Markup:
    """A frame of text as a table, with the ``names`` of its rows or without; the text is escaped."""
    return _plain(frame.to_html(index=names, border=0))


def _short(column: pd.Series) -> pd.Series:
    """A column with its numbers to five digits, if it has nothing else."""
    if all(map(NUMBER.fullmatch, filter(None, column))):
        return column.map(lambda text: f"{float(text):.5g}" if {".", "e"} & set(text) else text)
    return column


def _plain(table: str) -> Markup:
    """A table without what its tags say of its looks."""
    return Markup(TAG.sub(lambda tag: LOOKS.sub("", tag[0]), table))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); start the workflow again") from None
