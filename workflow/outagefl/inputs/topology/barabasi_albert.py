"""Hubs: a few clients have very many neighbours, most have few."""

from __future__ import annotations

import networkx as nx
import numpy as np

from outagefl.inputs import checks
from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import edge_array


def edges(clients: int, rng: np.random.Generator, *, attachments: int) -> Edges:
    """A random connected graph after Barabási and Albert (1999), with attachments · (clients - attachments) edges.

    It starts as a star of ``attachments`` + 1 clients; each further client is joined to that many of those before it,
    which are chosen in proportion to their numbers of neighbours, so the first clients tend to be the hubs. 1 gives a
    tree. Raises InputError for ``attachments`` that are not below the number of clients.
    """
    checks.whole(f"topology.attachments with {clients} clients", attachments, 1, clients - 1)
    return edge_array(nx.barabasi_albert_graph(clients, attachments, seed=rng))
