"""Complete graph: every client talks to every other."""

from __future__ import annotations

import networkx as nx
import numpy as np

from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import edge_array


def edges(clients: int, rng: np.random.Generator) -> Edges:
    """All clients · (clients - 1) / 2 pairs."""
    return edge_array(nx.complete_graph(clients))
