"""Rows of a CSV file, plain or gzip-compressed, and numbers gathered by device. Files are not trusted to be small."""

from __future__ import annotations

import csv
import gzip
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TextIO, cast

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import DataError
from outagefl.sources import archive, plain

MOST_ROWS = 20_000_000
MOST_DEVICES = 1_000_000  # FedScale, the largest public trace, has 107,749
LONGEST_ROW = 1 << 20  # characters


def rows(source: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place (file and line, for messages) and the values by column of every row.

    Blanks around values and blank lines are skipped. Raises DataError for a file that is missing, damaged, unpacks to
    too much, lacks one of ``columns`` in its first line or names a column twice, or has a row of another length.
    """
    try:
        with _text(source) as stream:
            lines = _Lines(stream, archive.allowance(source.stat().st_size))
            reader = csv.reader(lines)
            header = [name.strip() for name in next(reader, [])]
            _check(header, columns, f"{source}: line 1")
            for row in reader:
                lines.row_ends()
                where = f"{source}: line {reader.line_num}"
                if row and len(row) != len(header):
                    raise DataError(f"{where}: {len(row)} fields; expected {len(header)}, as in line 1")
                if row:
                    yield where, dict(zip(header, map(str.strip, row), strict=True))
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        raise DataError(f"{source}: not readable as CSV ({error})") from error


def number(where: str, column: str, text: str) -> float:
    """The number in a field. Raises DataError, naming the place, for anything but a finite number."""
    try:
        value = float(text) if text.isascii() and "_" not in text else float("nan")  # Python's own spellings
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise DataError(f"{where}: {column}: {text!r} is not a finite number")
    return value


def name(where: str, column: str, text: str) -> str:
    """The name in a field, without blanks around it. Raises DataError, naming the place, if it is empty or NaN."""
    stripped = text.strip()
    if stripped.lower() in ("", "nan"):
        raise DataError(f"{where}: {column}: the name is missing")
    return stripped


def by_device(rows: Iterable[tuple[str, str, float, float]]) -> dict[str, NDArray[np.float64]]:
    """Gather the two numbers of every row (place, device, number, number) by device, each (rows, 2), in order.

    Raises DataError, naming the place, where there are too many rows or devices.
    """
    found: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
    for count, (where, device, first, second) in enumerate(rows):
        if count == MOST_ROWS:
            raise DataError(f"{where}: more than {MOST_ROWS} rows")
        found[device].extend((first, second))
        if len(found) > MOST_DEVICES:
            raise DataError(f"{where}: more than {MOST_DEVICES} devices")
    return {device: np.frombuffer(numbers).reshape(-1, 2) for device, numbers in found.items()}


def _text(source: Path) -> TextIO:
    opener = gzip.open if plain.read(source, 2) == b"\x1f\x8b" else open
    return cast(TextIO, opener(source, "rt", encoding="utf-8-sig", newline=""))


def _check(header: Sequence[str], columns: Sequence[str], where: str) -> None:
    for column in columns:
        if column not in header:
            raise DataError(f"{where}: no column {column!r}; expected {','.join(columns)}")
    for column, times in Counter(filter(None, header)).items():
        if times > 1:
            raise DataError(f"{where}: {times} columns {column!r}; expected one")


class _Lines:
    """The lines of a file, but for a ValueError where a row, or all of the file, is longer than is accepted."""

    def __init__(self, stream: TextIO, longest: int) -> None:
        self.stream, self.longest = stream, longest
        self.left_in_file, self.left_in_row = longest, LONGEST_ROW

    def row_ends(self) -> None:
        """Begin to count the next row; only the parser of the lines can tell where a row ends."""
        self.left_in_row = LONGEST_ROW

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.stream.readline(self.left_in_row + 1)
        self.left_in_row -= len(line)
        self.left_in_file -= len(line)
        if self.left_in_row < 0:
            raise ValueError(f"a row of more than {LONGEST_ROW} characters")
        if self.left_in_file < 0:
            raise ValueError(f"it unpacks to more than {self.longest} characters, too many for its size")
        if not line:
            raise StopIteration
        return line
