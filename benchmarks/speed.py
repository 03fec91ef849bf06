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
from cases import checkpoints, dflaa, fedswe_cnn, jobs, messages, mixing, runs, scaling, threads
from harness import Case, compare, machine, table
from outagefl.training.allocator import keep_freed_memory

PAIRED: dict[str, Callable[[], Case]] = {
    "fedswe_cnn": fedswe_cnn.case,
    "dflaa_mlp": dflaa.mlp,
    "dflaa_mlp_hardly_evaluated": dflaa.mlp_hardly_evaluated,
    "dflaa_cnn": dflaa.cnn,
    "mixing_sparse": mixing.sparse,
    "mixing_dense": mixing.dense,
    "messages": messages.case,
}
MEASURED: dict[str, Callable[[], dict[str, float]]] = {
    "overhead": runs.overhead,
    "memory": jobs.memory,
    "checkpoint": checkpoints.checkpoint,
    "startup": jobs.startup,
    "scaling": scaling.scaling,
    "threads": threads.threads,
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


def in_words(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    parts = [", ".join(f"{key} {value}" for key, value in report["machine"].items())]
    if report["cases"]:
        parts.append(table([HEADING, *(row(name, found) for name, found in report["cases"].items())]))
        parts.append("\n".join(f"{name}: {found['what']}" for name, found in report["cases"].items()))
    if report["measured"]:
        lines = [["measured", "what", "value"]]
        for name, found in report["measured"].items():
            lines += [
                [name, what, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"] for what, value in found.items()
            ]
        parts.append(table(lines))
    return "\n\n".join(parts)


def check() -> None:
    """See on small cases that both compute the same."""
    for name, passed in CHECKS.items():
        print(f"{name}: {passed()}", flush=True)


def main() -> None:
    """Parse the command line, measure, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=[*PAIRED, *MEASURED], help="only this one; may be repeated")
    parser.add_argument("--pairs", type=int, default=5, help="how often both are timed")
    parser.add_argument("--threads", type=int, default=1, help="of both; jobs run with one")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    parser.add_argument("--figure", type=Path, help="where to draw the scaling, without a suffix")
    parser.add_argument("--check", action="store_true", help="only see that both compute the same")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    keep_freed_memory()  # as a job does
    if arguments.check:
        check()
        return
    names = arguments.case or [*PAIRED, *MEASURED]
    report: dict[str, Any] = {"machine": machine(), "cases": {}, "measured": {}}
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        if name in PAIRED:
            report["cases"][name] = compare(PAIRED[name], arguments.pairs, arguments.threads, keep_freed_memory)
        else:
            report["measured"][name] = MEASURED[name]()
        if arguments.json:
            arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    if arguments.figure:
        scaling.draw(arguments.figure)
    print(in_words(report))


if __name__ == "__main__":
    main()
