"""Rows of a CSV file, plain or gzip-compressed, with the number of the line each one stands in."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TextIO, cast

from outagefl.errors import DataError

MOST_ROWS = 20_000_000  # a file that unpacks to more is taken for a bomb


def rows(source: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place (file and line, for messages) and the values by column of every row; blank lines are skipped.

    Raises DataError for a file that is missing, damaged or lacks one of ``columns`` in its first line.
    """
    try:
        with _text(source) as stream:
            reader = csv.DictReader(stream)
            for column in columns:
                if column not in (reader.fieldnames or ()):
                    raise DataError(f"{source}: line 1: no column {column!r}; expected {','.join(columns)}")
            for count, row in enumerate(reader):
                if count == MOST_ROWS:
                    raise DataError(f"{source}: more than {MOST_ROWS} rows")
                yield f"{source}: line {reader.line_num}", row
    except FileNotFoundError:
        raise DataError(f"{source}: no such file") from None
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        raise DataError(f"{source}: not readable as CSV ({error})") from error


def number(where: str, column: str, text: str | None) -> float:
    """The number in a field. Raises DataError, naming the place, for anything but a finite number."""
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise DataError(f"{where}: {column}: {text!r} is not a finite number")
    return value


def _text(source: Path) -> TextIO:
    with open(source, "rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    opener = gzip.open if packed else open
    return cast(TextIO, opener(source, "rt", encoding="utf-8-sig", newline=""))
