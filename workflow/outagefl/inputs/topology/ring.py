"""Ring: each client talks to the one before and the one after it."""

from __future__ import annotations

import networkx as nx
import numpy as np

from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import edge_array


def edges(clients: int, rng: np.random.Generator) -> Edges:
    """The cycle 0 – 1 – … – (clients - 1) – 0; two clients share one edge, one client has none."""
    ring = nx.path_graph(clients)
    if clients > 2:
        ring.add_edge(clients - 1, 0)
    return edge_array(ring)
