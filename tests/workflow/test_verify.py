"""What `outagefl verify` says of a real reproduction, and that what it advises mends it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OUTAGES = "results/tiny/sfg/outages"


def verify(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "outagefl", "verify", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root / "workflow")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout + done.stderr


def test_results_that_were_edited_and_deleted_are_named_and_made_again(finished):
    root = finished.root
    status, told = verify(root, "results/tiny")
    assert status == 0, told
    assert "checked: 8 runs" in told
    metrics, table = finished.metrics(), root / OUTAGES / "comparisons.csv"
    run = next(iter(metrics))
    shutil.rmtree(root / "results" / run)
    table.write_text(table.read_text().replace("0.", "1.", 1))
    figure = root / OUTAGES / "figures" / "self_weight.pdf"
    figure.unlink()
    with (root / OUTAGES / "runs.csv").open("a") as index:
        index.write("\n")
    with (root / "workflow" / "outagefl" / "analysis" / "figures" / "effective_lag.py").open("a") as module:
        module.write("\nUNUSED = 1\n")
    status, told = verify(root, "results/tiny", "--all")
    assert status == 1
    named = {line.strip() for line in told.splitlines()}
    assert {str(path.relative_to(root)) for path in (table, figure)} | {f"results/{run}/metrics.parquet"} <= named
    assert {f"{OUTAGES}/runs.csv", f"{OUTAGES}/figures/effective_lag.png"} <= named
    assert "made by code that has changed since: outagefl.analysis.figures.effective_lag" in named
    table.unlink()
    finished.finish("--cores", "2")
    status, told = verify(root, "results/tiny")
    assert status == 0, told
    assert finished.metrics() == metrics
    assert finished.planned() == {}
