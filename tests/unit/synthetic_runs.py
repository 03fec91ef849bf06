"""Write the index and metrics of runs that were never trained, with known accuracies, for tests of the analysis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from outagefl.engines.metrics import tidy
from outagefl.files import checksum

ROUNDS, CLIENTS, EVERY = 20, 4, 2


def write_runs(
    root: Path,
    gains: Mapping[str, float],
    *,
    settings: Sequence[Mapping[str, str]] = ({"availability": "markov"},),
    seeds: int = 3,
    online: float = 0.5,
) -> Path:
    """Write runs whose final accuracy is 0.5 + the method's gain + a part common to all methods of a seed.

    ``online`` is the chance of a client to be online in a round.

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
                metrics(final, draws.random((ROUNDS, CLIENTS)) < online).to_parquet(file, index=False)
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
    rise = np.minimum(1.0, 2 * np.arange(1, len(online) + 1) / len(online))
    evaluated = np.where(np.arange(1, len(online) + 1) % EVERY == 0, final * rise, np.nan)
    values = {
        "accuracy": np.repeat(evaluated[:, None], online.shape[1], axis=1),
        "online": online.astype(float),
        "age": age,
        "lag": age / 2,
        "self_weight": np.where(online, 1 / (1 + age), np.nan),
        "neighbours": np.where(online, online.sum(axis=1, keepdims=True) - 1, np.nan),
    }
    return tidy(values, np.arange(1.0, len(online) + 1))


def write_server_runs(
    root: Path,
    accuracies: Mapping[str, np.ndarray],
    *,
    rounds: Sequence[int],
    settings: Sequence[tuple[Mapping[str, str], Mapping[str, Any]]],
    more: Mapping[str, Mapping[str, float | np.ndarray]] | None = None,
) -> Path:
    """Write runs of a server study with these test accuracies, method → (settings, seeds, evaluations) or less.

    ``rounds``: those evaluated; ``settings``: factors and what else the spec has; ``more``: method → further metrics,
    each a number or (evaluations,). The training accuracy is 0.01 above. Returns the path of their index.
    """
    rows = []
    for place, (factors, spec) in enumerate(settings):
        for method, values in accuracies.items():
            of_seeds = np.broadcast_to(values, (len(settings), *np.shape(values)[-2:]))[place]
            for seed, accuracy in enumerate(of_seeds):
                measured = {"accuracy": accuracy, "train_accuracy": accuracy + 0.01, "diverged": 0.0}
                measured |= (more or {}).get(method, {})
                name = f"runs/fedswe/{place}-{method}-{seed}"
                folder = root / name
                folder.mkdir(parents=True)
                frames = [
                    pd.DataFrame({"round": rounds, "time": rounds, "client": -1, "metric": metric, "value": value})
                    for metric, value in measured.items()
                ]
                frame = pd.concat(frames).astype({"metric": "category", "value": float})
                frame.to_parquet(folder / "metrics.parquet", index=False)
                (folder / "run.json").write_text(json.dumps({"spec": spec, "data_note": ""}))
                row = {"study": "fedswe", "experiment": "dynamics", **factors, "method": method, "seed": seed}
                rows.append({**row, "run": name, "checksum": checksum(folder / "metrics.parquet")})
    index = root / "runs.csv"
    pd.DataFrame(rows).to_csv(index, index=False)
    return index


def server_spec(dataset: str = "svhn", **probability: Any) -> dict[str, Any]:
    """What the analysis reads of a spec, as of Table 2 of the FedSWE paper unless ``probability`` says otherwise."""
    known = {"kind": "sine", "gamma": 0.3, "base": {"kind": "label_mix", "labels": "drawn"}} | probability
    return {
        "dataset": {"kind": dataset},
        "clients": 100,
        "partition": {"kind": "dirichlet_mix", "alpha": 0.1},
        "availability": {"kind": "independent", "probability": known},
    }
