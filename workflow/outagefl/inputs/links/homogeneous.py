"""Links that are all alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs import checks


def losses(links: int, rng: np.random.Generator, *, loss: float) -> NDArray[np.float64]:
    """Every link loses a chunk with probability ``loss``, (links,) (DFL-AA paper, VI: 0.1 to 0.5)."""
    checks.number("links.loss", loss, 0, 1)
    return np.full(links, float(loss))
