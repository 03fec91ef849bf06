"""What a checkpoint of 300 clients with the FedSWE CNN takes, on the disk of temporary files."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from cases.inputs import CIFAR10
from cases.runs import CNN
from outagefl.engines.gossip import GossipState, start
from outagefl.runs.checkpoint_file import read, write
from outagefl.training.initial import initial_model
from outagefl.training.parameters import BoundModel

CLIENTS, ROUNDS, TIMES = 300, 2000, 3


def checkpoint() -> dict[str, float]:
    """Size, and medians of the wall time of writing it, with all of it on disk, and of reading it back."""
    state = start(BoundModel(initial_model(CNN, *CIFAR10, 0)).row(), CLIENTS, ROUNDS)
    writing, reading, size = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.pt"
        for _ in range(TIMES):
            begun = time.perf_counter()
            size = write(file, {}, state)
            written = time.perf_counter()
            read(file, lambda header: None, [GossipState])
            writing.append(written - begun)
            reading.append(time.perf_counter() - written)
    models = 4 * state.models.numel()
    return {
        "size, MB": size / 1e6,
        "size / models": size / models,
        "writing, s": statistics.median(writing),
        "reading, s": statistics.median(reading),
    }
