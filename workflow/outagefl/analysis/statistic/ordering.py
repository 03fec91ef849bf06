"""Which methods are ahead of which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import pandas as pd

from outagefl.analysis.contrast import Contrast, Names, gain, several
from outagefl.analysis.looks import label


def contrasts(values: pd.DataFrame, *, order: Sequence[Names]) -> dict[str, Contrast]:
    """The lead of every method over each of the next group; ``order``: methods or groups of them, the largest first.

    Within a group there is no order.
    """
    return {
        f"{label(one)} − {label(other)}": gain(values, one, other)
        for ahead, behind in pairwise(map(several, order))
        for one, other in product(ahead, behind)
    }
