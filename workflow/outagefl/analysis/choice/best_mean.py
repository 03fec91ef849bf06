"""Choose the candidate that does best on average over the validation seeds (our choice: the article is silent)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from outagefl.analysis.results import score


def choose(runs: Sequence[Path], *, candidates: Sequence[float], seeds: Sequence[int], tail: float) -> dict[str, Any]:
    """The candidate with the highest mean score (``results.score``, in %) over the seeds, of equals the smallest.

    Of each candidate: value, mean and scores, one a seed.
    """
    scores = np.array([score(run, tail) for run in runs]).reshape(len(candidates), len(seeds))
    found = [
        {"value": value, "mean": float(own.mean()), "scores": own.tolist()}
        for value, own in zip(candidates, scores, strict=True)
    ]
    best = max(found, key=lambda each: (each["mean"], -each["value"]))
    return {"value": best["value"], "candidates": found}
