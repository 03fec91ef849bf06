"""Two ways to do the same work, timed by turns, and what the machine could do at most."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

GEMM = 2048  # rows and columns
COPY = 1 << 27  # numbers: 512 MB


@dataclass(frozen=True)
class Case:
    """What is compared: ``naive`` and ``ours`` do the same work once per call.

    limit: what bounds the work, ``gemm`` or ``copy``. amount: FLOPs or bytes that a call of ``ours`` cannot do without.
    part: the share of the work that ``naive`` does per call, where all of it would take too long. what: for the reader.
    """

    what: str
    naive: Callable[[], object]
    ours: Callable[[], object]
    limit: str
    amount: float
    part: float = 1


@cache
def _matrices() -> tuple[torch.Tensor, ...]:
    return tuple(torch.ones(GEMM, GEMM) for _ in range(3))


@cache
def _buffers() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(COPY), torch.zeros(COPY)


def clock() -> Callable[[], float]:
    """The CPU time of the process where one thread computes, which a busy machine changes little; else wall time."""
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    now = clock()
    start = now()
    work()
    return now() - start


def peak(limit: str) -> float:
    """FLOP/s of a large float32 product, or bytes read and written per second by a large copy."""
    if limit == "gemm":
        a, b, c = _matrices()
        return 2 * GEMM**3 / seconds(lambda: torch.mm(a, b, out=c))
    source, target = _buffers()
    return 2 * 4 * COPY / seconds(lambda: target.copy_(source))


@cache
def _built(build: Callable[[], Case]) -> Case:
    return build()


def _start(threads: int, prepare: Callable[[], None] | None) -> None:
    torch.set_num_threads(threads)
    if prepare is not None:
        prepare()


def _side(build: Callable[[], Case], side: str) -> float:
    return seconds(getattr(_built(build), side))


def _limit(build: Callable[[], Case]) -> float:
    return peak(_built(build).limit)


def compare(build: Callable[[], Case], pairs: int, threads: int, prepare: Callable[[], None]) -> dict[str, Any]:
    """Medians and, of the ratio naive / ours within each pair, the range; a first pair is not counted.

    Each side has a process of its own, and while one works the other sleeps: ``prepare`` is what outagefl sets for the
    whole process before it trains, and research code does not.
    """
    context, case = get_context("spawn"), _built(build)
    naive, ours, peaks = [], [], []
    with (
        ProcessPoolExecutor(1, context, _start, (threads, None)) as theirs,
        ProcessPoolExecutor(1, context, _start, (threads, prepare)) as own,
    ):
        for _ in range(pairs + 1):
            naive.append(theirs.submit(_side, build, "naive").result() / case.part)
            ours.append(own.submit(_side, build, "ours").result())
            peaks.append(own.submit(_limit, build).result())
    naive, ours, peaks = naive[1:], ours[1:], peaks[1:]
    ratios = [a / b for a, b in zip(naive, ours, strict=True)]
    shares = [case.amount / b / limit for b, limit in zip(ours, peaks, strict=True)]
    return {
        "what": case.what,
        "threads": threads,
        "naive_s": statistics.median(naive),
        "ours_s": statistics.median(ours),
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "limit": case.limit,
        "peak": statistics.median(peaks),
        "share_of_peak": statistics.median(shares),
    }


def machine() -> dict[str, Any]:
    """Where and when this was measured."""
    cpu = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = f"{names[0]}, {len(names)} cores"
    load = Path("/proc/loadavg")
    return {
        "date": date.today().isoformat(),
        "cpu": cpu,
        "torch": torch.__version__,
        "load_before": load.read_text().split()[0] if load.exists() else None,
    }


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as Markdown, the first one the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)
