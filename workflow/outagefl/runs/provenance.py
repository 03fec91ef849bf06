"""Where a result comes from: spec, inputs, code, packages, device, commit and cost."""

from __future__ import annotations

import platform
import resource
import subprocess
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from outagefl.runs.plan import FORMAT, Run, run_code
from outagefl.training.devices import resolve

PACKAGES = ("torch", "numpy", "scipy", "pandas", "pyarrow")


def _commit() -> str | None:
    """The commit of the code, with ``+`` where the working tree differs; None outside a repository."""
    try:
        run = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=40", "--dirty=+"]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def provenance(
    run: Run, choice: dict[str, Any] | None, data_note: str, device: str, started: float, packed: int
) -> dict[str, Any]:
    """Everything needed to say how a run was made; ``started`` in seconds since the epoch.

    ``choice``: what was chosen on validation seeds, where the spec has such an option. ``packed``: how many runs shared
    the device in this process, this one included, and so its time and memory.
    """
    return {
        "format": FORMAT,
        "spec": run.spec,
        "inputs": run.inputs,
        "choice": choice,
        "data_note": data_note,
        "code": run_code(run.spec),
        "commit": _commit(),
        "packages": {name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "machine": platform.platform(),
        "device": "cpu" if resolve(device).type == "cpu" else torch.cuda.get_device_name(),
        "packed_runs": packed,
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 2),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
