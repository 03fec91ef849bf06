"""Loss rates of links on disk: the probability that a chunk is lost, one for each directed edge of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.inputs import graphs, storage
from outagefl.randomness import generator


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Draw the loss rates of ``spec`` (links, seed) for the edges of the ``topology`` it needs; write them."""
    losses, options = components.load("links", spec["links"])
    edges, _ = graphs.load(needs["topology"])
    storage.write(target, loss=losses(len(edges), generator(spec["seed"], "links"), **options))


def load(path: Path | str) -> NDArray[np.float64]:
    """The loss rates in the order of the graph's edges, float64 (E,); DataError naming the file if they cannot be."""
    [loss] = storage.read(path, "loss")
    if loss.dtype != np.float64 or loss.ndim != 1 or not ((loss >= 0) & (loss <= 1)).all():
        raise DataError(f"{path}: links have loss rates from 0 to 1 as 64-bit floats, one for each edge")
    return loss
