"""Links that differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks


def losses(links: int, rng: np.random.Generator, *, low: float, high: float) -> NDArray[np.float64]:
    """Every link draws its loss rate from Uniform(``low``, ``high``), (links,) (DFL-AA paper, VI-E: 0.05, 0.5)."""
    checks.number("links.low", low, 0, 1)
    checks.number("links.high", high, 0, 1)
    if low > high:
        raise InputError(f"links.low: {low} is above links.high, {high}")
    return rng.uniform(low, high, links)
