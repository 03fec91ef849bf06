"""One probability for all clients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks
from outagefl.inputs.partitions import Partition


def probabilities(clients: int, partition: Partition | None, seed: int, *, probability: float) -> NDArray[np.float64]:
    """The same ``probability`` for every client, (clients,), as in Figures 3 and 16 of the FedSWE paper."""
    checks.number("availability.probability.base.probability", probability, 0, 1)
    return np.full(clients, float(probability))
