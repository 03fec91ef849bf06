"""Random regular graph: every client has the same number of neighbours."""

from __future__ import annotations

import networkx as nx
import numpy as np

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import require_connected


def edges(clients: int, rng: np.random.Generator, *, degree: int) -> Edges:
    """A random connected graph in which every client has ``degree`` neighbours.

    Above half of the possible neighbours the complement of a sparse regular graph is drawn: it is as random, and the
    pairing method (Steger and Wormald 1999) hardly ever succeeds on a dense one. Raises InputError where no connected
    regular graph exists: an odd clients · degree, a degree below 2 with more than two clients, or a degree too high.
    """
    checks.whole(f"topology.degree with {clients} clients", degree, min(clients - 1, 2), clients - 1)
    asked = f"random_regular with {clients} clients and degree {degree}"
    if clients * degree % 2:
        raise InputError(
            f"topology {asked}: clients * degree is odd, there is no such graph; "
            f"take degree {degree - 1} or {degree + 1}, or an even number of clients"
        )
    complement = 2 * degree >= clients
    drawn = clients - 1 - degree if complement else degree

    def draw() -> nx.Graph[int]:
        graph: nx.Graph[int] = nx.random_regular_graph(drawn, clients, seed=rng)
        return nx.complement(graph) if complement else graph

    return require_connected(draw, asked, "with degree 3 or more nearly all are")
