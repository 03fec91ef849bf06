"""Fluid communities: a given number of regions of similar size that spread over the graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.networks import ATTEMPTS


def membership(graph: nx.Graph[int], rng: np.random.Generator, *, count: int) -> NDArray[np.int64]:
    """The community of each client, from 0 in the order of their first clients, (clients,).

    Exactly ``count`` communities, each connected, after Parés et al. (2017): each starts at a random client and spreads
    to where it is densest. Unlike those of greatest modularity, which can be chains of single clients beside one that
    holds the rest, they have similar sizes, on a complete graph too. A division that leaves a community in pieces is
    drawn again. ``graph``: connected, with the nodes 0, 1, ….

    Raises InputError if ``count`` is above the number of clients or no division into connected communities turns up.
    """
    checks.whole(f"availability.communities.count with {len(graph)} clients", count, 1, len(graph))
    for _ in range(ATTEMPTS):
        found = list(nx.community.asyn_fluidc(graph, count, seed=int(rng.integers(1 << 32))))
        if all(nx.is_connected(graph.subgraph(community)) for community in found):
            community_of = np.empty(len(graph), dtype=np.int64)
            for number, community in enumerate(sorted(found, key=min)):
                community_of[list(community)] = number
            return community_of
    raise InputError(
        f"availability.communities.count: {count}: none of {ATTEMPTS} divisions of the {len(graph)} clients was into "
        "connected communities; take fewer"
    )
