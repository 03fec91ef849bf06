"""Where the time of server runs goes: local training, evaluation and everything else, per run.

    PYTHONPATH=workflow python benchmarks/server.py results/runs/fedswe/<run> … [--rounds 40]

Runs again the first rounds of finished runs, whose inputs must still be there; one thread. Shares are of the run's own
CPU time, so that a busy machine changes them little; of the first run, "everything else" holds what torch loads late.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from outagefl.engines import server
from outagefl.runs.execute import LOAD
from outagefl.training.local_trainer import LocalTrainer


def timed(spent: dict[str, float], name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, its CPU time added to ``spent``."""

    def call(*arguments: Any) -> Any:
        start = time.process_time()
        try:
            return method(*arguments)
        finally:
            spent[name] += time.process_time() - start

    return call


def shares(folder: Path, root: Path, rounds: int) -> dict[str, Any]:
    """CPU seconds per round and shares in % of one run, played for some rounds."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    spec = {**record["spec"], "rounds": min(rounds, record["spec"]["rounds"])}
    inputs = {what: LOAD[what](root / path) for what, path in record["inputs"].items()}
    for what in ("availability", "probability"):
        if what in inputs:
            inputs[what] = inputs[what][: spec["rounds"]]
    spent = {"training": 0.0, "evaluation": 0.0}
    train, evaluate = LocalTrainer.train, server.evaluate
    LocalTrainer.train = timed(spent, "training", train)  # type: ignore[method-assign]
    server.evaluate = timed(spent, "evaluation", evaluate)
    try:
        start = time.process_time()
        server.run(spec, **inputs, report=lambda *_: None, device="cpu")
        total = time.process_time() - start
    finally:
        LocalTrainer.train, server.evaluate = train, evaluate  # type: ignore[method-assign]
    parts = {name: 100 * seconds / total for name, seconds in spent.items()}
    return {"ms a round": 1000 * total / spec["rounds"], **parts, "everything else": 100 - sum(parts.values())}


def main() -> None:
    """Print a line per run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished server runs below a results folder")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for folder in arguments.runs:
        root = folder.resolve().parents[2]
        told = "  ".join(f"{name} {value:.1f}" for name, value in shares(folder, root, arguments.rounds).items())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{folder.name}: {told}  peak so far {peak:.0f} MB")


if __name__ == "__main__":
    main()
