"""Print the verdicts on the published claims, from results that are there.

A line per tested claim: the published value (≥, ≤, ≈: at least, at most, about), ours with its 95 % interval, the
corrected p-values of the evidence for and against the claim, the number of seeds. More is in claims.html beside it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from outagefl.analysis.claims import COLUMNS
from outagefl.analysis.claims_table import counted, in_order, interval, name, number, published, seeds
from outagefl.analysis.verdicts import NOT_RUN
from outagefl.analysis.writers import p_value
from outagefl.commands.printing import show
from outagefl.errors import ConfigError

HEADINGS = ("claim", "verdict", "published", "ours", "p", "against", "n", "")
NARROWEST = 120  # characters; the numbers need a hundred


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("results", type=Path, help="a folder of results such as results/quick")


def execute(arguments: argparse.Namespace) -> int:
    """Print the table."""
    show(told(read(arguments.results / "claims.csv"), width()))
    return 0


def width() -> int:
    """How many characters a line may have: as many as fit into the terminal, any number where there is none."""
    return max(NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else sys.maxsize


def read(path: Path) -> pd.DataFrame:
    """The verdicts that a workflow wrote; ConfigError naming the file where there are none."""
    try:
        found = pd.read_csv(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(f"{path}: no such file; `make reproduce SCALE={path.parent.name}` writes it") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not a table of claims ({error})") from None
    if missing := [column for column in COLUMNS if column not in found]:
        raise ConfigError(f"{path}: not a table of claims, it lacks the column {missing[0]!r}")
    return found


def told(claims: pd.DataFrame, width: int) -> str:
    """The table as lines that are not longer: studies below each other, what was not run at their ends."""
    lines: list[str] = []
    for study, own in claims.groupby("study", sort=False):
        tested, others = own[own["verdict"] != NOT_RUN], own[own["verdict"] == NOT_RUN]
        lines += textwrap.wrap(counted(str(study), own), width)
        lines += _aligned([HEADINGS, *map(_cells, in_order(tested))], width)
        if len(others):
            lines += textwrap.wrap(f"{NOT_RUN}: {', '.join(others['id'])}", width, break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines[:-1])


def _cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    ours = number(row["ours"]) + (f" [{interval(row['low'], row['high'])}]" if pd.notna(row["low"]) else "")
    return (
        name(row),
        row["verdict"],
        published(row["says"], row["published"], row["unit"]),
        ours,
        p_value(row["p"]),
        p_value(row["p_against"]),
        seeds(row["n"]),
        row["text"],
    )


def _aligned(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    longest = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(cell.ljust(room) for cell, room in zip(row, longest, strict=True)).rstrip()
        yield line if len(line) <= width else line[: width - 1] + "…"
