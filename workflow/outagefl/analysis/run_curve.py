"""One metric of one run over its evaluations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outagefl.analysis.results import metrics


@dataclass(frozen=True)
class Curve:
    """``rounds``, ``times`` (virtual seconds) and ``values`` (accuracies in %), each (evaluations,), in their order."""

    rounds: NDArray[np.float64]
    times: NDArray[np.float64]
    values: NDArray[np.float64]


def curve(folder: Path, metric: str, client: int | None = None) -> Curve:
    """A metric's mean over clients, or that of one ``client``; DataError where the run does not have it."""
    frame = metrics(folder, [metric], mean=client is None)
    if client is not None:
        frame = frame[frame["client"] == client]
    frame = frame.sort_values("round")
    return Curve(*(frame[column].to_numpy(float) for column in ("round", "time", "value")))
