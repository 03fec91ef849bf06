"""Small world: a ring lattice, some of whose edges lead anywhere."""

from __future__ import annotations

import networkx as nx
import numpy as np

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import require_connected


def edges(clients: int, rng: np.random.Generator, *, neighbors: int, rewiring: float) -> Edges:
    """A random connected graph after Watts and Strogatz (1998), with clients · neighbors / 2 edges.

    Each client is joined to its ``neighbors`` nearest on a ring (an even number below ``clients``); then each edge's
    far end moves, with probability ``rewiring``, to a random client. Raises InputError for values outside these ranges.
    """
    checks.whole("topology.neighbors", neighbors, 2)
    checks.number("topology.rewiring", rewiring, 0, 1)
    asked = f"watts_strogatz with {clients} clients, neighbors {neighbors} and rewiring {rewiring}"
    if neighbors % 2 or neighbors >= clients:
        raise InputError(f"topology {asked}: neighbors must be even and below the number of clients")
    return require_connected(
        lambda: nx.watts_strogatz_graph(clients, neighbors, rewiring, seed=rng),
        asked,
        "take more neighbors or a smaller rewiring probability",
    )
