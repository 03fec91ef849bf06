"""How fast outagefl is, beside research code as it is usually written and the machine's limits, by hand.

    python benchmarks/speed.py

Prints a table and, with ``--json``, writes all numbers to a file. README.md in this folder explains them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from cases import dflaa, fedswe_cnn, messages, mixing
from harness import Case, compare, machine, table

PAIRED: dict[str, Callable[[], Case]] = {
    "fedswe_cnn": fedswe_cnn.case,
    "dflaa_mlp": dflaa.mlp,
    "dflaa_cnn": dflaa.cnn,
    "mixing_sparse": mixing.sparse,
    "mixing_dense": mixing.dense,
    "messages": messages.case,
}
CHECKS: dict[str, Callable[[], str]] = {
    "fedswe_cnn": fedswe_cnn.check,
    "dflaa": dflaa.check,
    "mixing": mixing.check,
}
HEADING = ["case", "threads", "naive, s", "outagefl, s", "naive / outagefl", "limit", "share of limit"]


def row(name: str, found: dict[str, Any]) -> list[str]:
    """A line of the table."""
    unit = "GFLOP/s" if found["limit"] == "gemm" else "GB/s"
    return [
        name,
        str(found["threads"]),
        f"{found['naive_s']:.2f}",
        f"{found['ours_s']:.2f}",
        f"{found['ratio']:.2f} ({found['ratio_min']:.2f} to {found['ratio_max']:.2f})",
        f"{found['limit']}, {found['peak'] / 1e9:.0f} {unit}",
        f"{100 * found['share_of_peak']:.0f} %",
    ]


def main() -> None:
    """Parse the command line, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=PAIRED, help="only this one; may be repeated")
    parser.add_argument("--pairs", type=int, default=5, help="how often both are timed")
    parser.add_argument("--threads", type=int, default=1, help="of both; jobs run with one")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    parser.add_argument("--check", action="store_true", help="only see that both compute the same")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.check:
        for name, check in CHECKS.items():
            print(f"{name}: {check()}", flush=True)
        return
    report: dict[str, Any] = {"machine": machine(), "cases": {}}
    lines = [HEADING]
    for name in arguments.case or PAIRED:
        found = report["cases"][name] = compare(PAIRED[name](), arguments.pairs)
        lines.append(row(name, found))
        print(f"{name}: {found['what']}: {lines[-1][4]}", file=sys.stderr, flush=True)
    print(", ".join(f"{key} {value}" for key, value in report["machine"].items()))
    print(table(lines))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
