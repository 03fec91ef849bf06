"""Where a run comes from: spec, inputs, code, packages, device, commit and cost."""

from __future__ import annotations

import resource
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from outagefl.provenance.allocation import allocation
from outagefl.provenance.records import checksum, circumstances
from outagefl.runs.plan import FORMAT, Run, run_code
from outagefl.training.devices import resolve


def provenance(
    run: Run,
    choice: dict[str, Any] | None,
    data_note: str,
    device: str,
    started: float,
    packed: int,
    resumed_from: list[int],
    seconds_before: float,
) -> dict[str, Any]:
    """Everything needed to say how a run was made; ``started`` in seconds since the epoch.

    ``choice``: what was chosen on validation seeds, where the spec has such an option. ``packed``: how many runs shared
    the device in this process, this one included, and so its time and memory. ``resumed_from``: the rounds at which an
    interrupted run was gone on from; ``seconds_before``: how long had been trained for the last of them, before
    ``started``.
    """
    return {
        "format": FORMAT,
        "spec": run.spec,
        "inputs": run.inputs,
        "choice": choice,
        "data_note": data_note,
        "allocation": allocation(),
        "code": run_code(run.spec),
        "device": device_name(device),
        "packed_runs": packed,
        **circumstances(started),
        "resumed_from": resumed_from,
        "seconds_before": seconds_before,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def device_name(device: str) -> str:
    """What computes where ``device`` is asked for: ``cpu``, or the name of the GPU."""
    return "cpu" if resolve(device).type == "cpu" else str(torch.cuda.get_device_name())


def checksums(path: str, metrics: Path, run: Run, root: Path) -> dict[str, dict[str, str]]:
    """The checksums of a run's metrics and of its inputs, by path, as records have them."""
    inputs = {where: root / where for where in run.inputs.values()}
    return {
        "made": {f"results/{path}/metrics.parquet": checksum(metrics)},
        "from": {f"results/{where}": _checksum(file, _stamp(file)) for where, file in inputs.items()},
    }


def _stamp(path: Path) -> tuple[Any, ...]:
    """What changes when a file does, or one in a folder: names, sizes, times."""
    found = [(file, file.stat()) for file in (path, *sorted(path.rglob("*")))]
    return tuple((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in found)


@lru_cache(maxsize=64)
def _checksum(path: Path, stamp: tuple[Any, ...]) -> str:
    """The checksum of what the runs of a job share, computed once while its ``stamp`` stays the same."""
    return checksum(path)
