"""Whether jobs of one thread side by side beat one job of several threads, in wall time on two cores."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

import torch

from cases.fedswe_cnn import TRAINING, Both

SECONDS, TIMES = 3.0, 3
SETTINGS = {"2 jobs × 1 thread": (2, 1), "1 job × 2 threads": (1, 2), "2 jobs × 2 threads": (2, 2)}  # jobs, threads

_barrier: Barrier


def _ready(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603
    _barrier = barrier


def _worker(job: int) -> list[float]:
    """Images per second of one job under each setting in turn, 0 where it has no part in it."""
    both, rates = Both(2, 200, {**TRAINING, "steps": 2}), []
    both.ours(2)
    for _ in range(TIMES):
        for jobs, threads in SETTINGS.values():
            torch.set_num_threads(threads)
            _barrier.wait()
            start, clients = time.perf_counter(), 0
            while job < jobs and time.perf_counter() - start < SECONDS:
                both.ours(1)
                clients += 1
            rates.append(256 * clients / (time.perf_counter() - start))
            _barrier.wait()
    return rates


def threads() -> dict[str, float]:
    """Images trained per second by all jobs together, medians, and what that is of the first setting."""
    context = get_context("spawn")
    with ProcessPoolExecutor(2, context, _ready, (context.Barrier(2, timeout=300),)) as pool:
        totals = [sum(both) for both in zip(*pool.map(_worker, range(2)), strict=True)]
    found = {}
    for place, setting in enumerate(SETTINGS):
        rates, first = totals[place :: len(SETTINGS)], totals[:: len(SETTINGS)]
        found[f"{setting}, FedSWE CNN: images/s"] = statistics.median(rates)
        if place:
            shares = [rate / best for rate, best in zip(rates, first, strict=True)]
            found[f"{setting}: share of 2 jobs × 1 thread, %"] = 100 * statistics.median(shares)
    return found
