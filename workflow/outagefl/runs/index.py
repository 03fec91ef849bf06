"""The index of an experiment: which run stands for which factors, method and seed, with the checksum of its metrics."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from outagefl.errors import DataError
from outagefl.files import appeared, checksum, replacing


def write_index(rows: Sequence[dict[str, Any]], root: Path, target: Path) -> None:
    """Write ``runs.csv`` for the rows of an experiment; DataError when a run is missing."""
    sums: dict[str, str] = {}
    for row in rows:
        metrics = root / row["run"] / "metrics.parquet"
        if not appeared(metrics):
            raise DataError(f"{metrics}: missing; start Snakemake again to train this run")
        if row["run"] not in sums:
            sums[row["run"]] = checksum(metrics)
    with replacing(target) as new, new.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*rows[0], "checksum"], lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "checksum": sums[row["run"]]} for row in rows)


def merge_indexes(files: Sequence[Path], target: Path) -> None:
    """One index of all experiments; a factor that an experiment does not have stays empty."""
    rows: list[dict[str, str]] = []
    for file in files:
        with file.open(newline="", encoding="utf-8") as stream:
            rows += csv.DictReader(stream)
    fixed = ["study", "experiment"], ["method", "seed", "run", "checksum"]
    factors = list(dict.fromkeys(key for row in rows for key in row if key not in fixed[0] + fixed[1]))
    with replacing(target) as new, new.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*fixed[0], *factors, *fixed[1]], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
