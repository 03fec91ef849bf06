"""Directed ring: each client sends to the next, or to both beside it."""

from __future__ import annotations

import networkx as nx
import numpy as np

from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import edge_array


def edges(clients: int, rng: np.random.Generator, *, both_ways: bool) -> Edges:
    """The cycle 0 → 1 → … → (clients - 1) → 0 as edges [source, target]; one client has none.

    ``both_ways`` adds the opposite edges. The DFL-AA paper gives each node "only two neighbors"; its released code has
    the edges i → i + 1 alone.
    """
    ring = nx.DiGraph((i, (i + 1) % clients) for i in range(clients) if clients > 1)
    return edge_array(ring.to_undirected().to_directed() if both_ways else ring)
