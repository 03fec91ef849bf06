"""Groups of clients, and of the classes that belong to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def in_order(count: int, groups: int) -> NDArray[np.int64]:
    """The group, from 0, of each of ``count`` things divided in order into groups as equal as can be, (count,)."""
    return np.arange(count) * groups // count
