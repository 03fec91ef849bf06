"""Directed Erdős–Rényi graph: every client sends to every other with the same probability."""

from __future__ import annotations

from math import log

import networkx as nx
import numpy as np

from outagefl.inputs import checks
from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import require_connected


def edges(clients: int, rng: np.random.Generator, *, degree: float, cycle: bool) -> Edges:
    """A random strongly connected graph: each edge [source, target] with probability degree / (clients - 1).

    ``degree`` is the mean number of clients that one sends to (DFL-AA paper, VI: 4); keeping only strongly connected
    graphs raises it a little where many are not. ``cycle`` adds the edges i → i + 1, as the paper's released code does,
    which connects every graph and adds 1 - degree / (clients - 1) to the mean. Raises InputError if ``degree`` is
    outside [0, clients - 1] or too small for a strongly connected graph to turn up.
    """
    checks.number(f"topology.degree with {clients} clients", degree, 0, clients - 1)

    def draw() -> nx.DiGraph[int]:
        graph: nx.DiGraph[int] = nx.fast_gnp_random_graph(
            clients, degree / max(clients - 1, 1), seed=rng, directed=True
        )
        if cycle and clients > 1:
            nx.add_cycle(graph, range(clients))
        return graph

    return require_connected(
        draw,
        f"directed_erdos_renyi with {clients} clients and mean degree {degree}",
        f"a mean degree above ln(clients) = {log(clients):.1f} mostly is",
    )
