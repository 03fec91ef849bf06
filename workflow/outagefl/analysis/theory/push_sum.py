"""Push-sum's weights over lossy links (Assran et al., ICML 2019; DFL-AA paper, Proposition 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.analysis.theory.result import Array


def step(weights: Array, edges: NDArray[np.int64], arrived: Array) -> Array:
    """The nodes' push-sum weights (…, n) after a round in which everyone sends at once and every message is used up.

    Each node divides its weight evenly between itself and those it sends to. ``edges``: (E, 2), source and target.
    ``arrived`` (…, E): the share of each message that arrives, from 0 to 1; what does not is lost. Without loss the
    total stays; at reception rate q on a graph of out-degree k, (1 + qk) / (1 + k) of it is expected to be left.
    """
    nodes = weights.shape[-1]
    source, target = edges.T
    kept = weights / (1 + np.bincount(source, minlength=nodes))
    into = target[:, None] == np.arange(nodes)
    received: Array = kept + (kept[..., source] * arrived) @ into
    return received
