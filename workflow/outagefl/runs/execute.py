"""Execute one run: read its inputs, run its engine, return its metrics.

The metrics of every study share one tidy schema, a row per value (``metrics.parquet``):

======== ======== ==========================================================================
column   type     meaning
======== ======== ==========================================================================
round    int32    round or evaluation, from 1
time     float64  virtual seconds; equals the round in synchronous engines
client   int32    the client's number, or −1 for the mean over clients
metric   string   ``accuracy`` (fraction), ``loss`` (nats), ``online`` (0 or 1), ``lag`` and ``age`` (rounds), …
value    float64
======== ======== ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from outagefl import components
from outagefl.datasets import arrays
from outagefl.engines.checkpoint import NONE, Checkpoint
from outagefl.inputs import activation_intervals, availabilities, graphs, link_losses, partitions, probabilities
from outagefl.training.allocator import keep_freed_memory
from outagefl.training.devices import resolve
from outagefl.training.precision import set_tf32, warn_without_gain


def read_input(what: str, path: Path) -> Any:
    """What a run is handed for a file or folder of its inputs."""
    return LOAD[what](path)


def execute(
    spec: Mapping[str, Any],
    inputs: Mapping[str, Path],
    device: str,
    report: Callable[[int, float], None],
    read: Callable[[str, Path], Any] = read_input,
    checkpoint: Checkpoint = NONE,
) -> pd.DataFrame:
    """Train and measure one run; ``report(round, mean accuracy)`` is called at every evaluation.

    The engine is handed what ``inputs`` holds under the names it has there, as ``read`` by name and path, and the
    ``checkpoint``, where the run may be interrupted and go on.

    One thread computes: the order of float additions, and so every bit of the result, is then independent of the
    machine's load and number of cores. Cores are used by running jobs side by side. Float32 is float32 on a GPU, too,
    outside the training of a run with another ``training.precision``.
    """
    keep_freed_memory()
    set_tf32(False)
    warn_without_gain(spec["training"].get("precision", "float32"), resolve(device))
    torch.set_num_threads(1)
    torch.backends.cudnn.deterministic = True
    run, _ = components.load("engine", {"kind": spec["engine"]})
    loaded = {what: read(what, path) for what, path in inputs.items()}
    metrics: pd.DataFrame = run(spec, **loaded, device=device, report=report, checkpoint=checkpoint)
    return metrics


def _edges(path: Path) -> graphs.Edges:
    return graphs.load(path)[0]


LOAD: dict[str, Callable[[Path], Any]] = {
    "dataset": arrays.load,
    "partition": partitions.load,
    "topology": _edges,
    "links": link_losses.load,
    "speeds": activation_intervals.load,
    "probability": probabilities.load,
    "availability": availabilities.load,
}
