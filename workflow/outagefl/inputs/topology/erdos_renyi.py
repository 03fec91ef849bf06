"""Erdős–Rényi graph: every pair of clients is joined with the same probability."""

from __future__ import annotations

from math import log

import networkx as nx
import numpy as np

from outagefl.inputs import checks
from outagefl.inputs.graphs import Edges
from outagefl.inputs.networks import require_connected


def edges(clients: int, rng: np.random.Generator, *, degree: float) -> Edges:
    """A random connected graph G(clients, p) with p = degree / (clients - 1), so that ``degree`` is the mean degree.

    Keeping only connected graphs raises the mean a little where many are not. Raises InputError if ``degree`` is
    outside [0, clients - 1] or too small for a connected graph to turn up.
    """
    checks.number(f"topology.degree with {clients} clients", degree, 0, clients - 1)
    return require_connected(
        lambda: nx.fast_gnp_random_graph(clients, degree / max(clients - 1, 1), seed=rng),
        f"erdos_renyi with {clients} clients and mean degree {degree}",
        f"a mean degree above ln(clients) = {log(clients):.1f} mostly is",
    )
