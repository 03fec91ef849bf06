"""Write the index and metrics of runs that were never trained, with known accuracies, for tests of the analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from outagefl.files import checksum

ROUNDS, CLIENTS, EVERY = 20, 4, 2


def write_runs(
    root: Path,
    gains: Mapping[str, float],
    *,
    settings: Sequence[Mapping[str, str]] = ({"availability": "markov"},),
    seeds: int = 3,
    outages: bool = True,
) -> Path:
    """Write runs whose final accuracy is 0.5 + the method's gain + a part common to all methods of a seed.

    Returns the path of their index.
    """
    rows = []
    for place, factors in enumerate(settings):
        for method, gain in gains.items():
            for seed in range(seeds):
                name = f"runs/sfg/{place}-{method}-{seed}"
                file = root / name / "metrics.parquet"
                file.parent.mkdir(parents=True)
                draws = np.random.default_rng([place, seed])
                final = 0.5 + gain + draws.normal(0, 0.02)
                final += np.random.default_rng([place, seed, len(method), *method.encode()]).normal(0, 0.002)
                metrics(final, draws.random((ROUNDS, CLIENTS)) < (0.5 if outages else 2)).to_parquet(file, index=False)
                row = {"study": "sfg", "experiment": "outages", **factors, "method": method, "seed": seed}
                rows.append({**row, "run": name, "checksum": checksum(file)})
    index = root / "runs.csv"
    pd.DataFrame(rows).to_csv(index, index=False)
    return index


def metrics(final: float, online: np.ndarray) -> pd.DataFrame:
    """The metrics of a run: accuracy rises to ``final`` within half the rounds; online is (ROUNDS, CLIENTS)."""
    age = np.zeros_like(online, dtype=float)
    for t in range(1, len(online)):
        age[t] = np.where(online[t - 1], 0, age[t - 1] + 1)
    tables = []
    for t in range(len(online)):
        values = {"age": age[t], "lag": age[t] / 2, "self_weight": np.where(online[t], 1 / (1 + age[t]), np.nan)}
        if (t + 1) % EVERY == 0:
            values["accuracy"] = np.full(online.shape[1], final * min(1.0, 2 * (t + 1) / len(online)))
        for metric, single in values.items():
            known = np.flatnonzero(~np.isnan(single))
            clients = [*known, -1] if len(known) else []
            numbers = [*single[known], single[known].mean()] if len(known) else []
            frame = pd.DataFrame({"round": t + 1, "time": float(t + 1), "client": clients, "metric": metric})
            tables.append(frame.assign(value=numbers))
    whole = pd.concat([table for table in tables if len(table)])
    return whole.astype({"round": "int32", "client": "int32", "metric": "category", "value": "float64"})
