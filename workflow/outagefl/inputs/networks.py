"""Graphs of networkx as arrays of edges; apart from ``outagefl.inputs.graphs``, since training needs no networkx."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np

from outagefl.errors import InputError
from outagefl.inputs.graphs import Edges

ATTEMPTS = 200  # random graphs drawn in search of a connected one


def edge_array(graph: nx.Graph[int]) -> Edges:
    """The edges of a graph, directed or not, whose nodes are numbered from 0."""
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    return np.unique(edges if graph.is_directed() else np.sort(edges, axis=1), axis=0)


def require_connected(draw: Callable[[], nx.Graph[int]], asked: str, advice: str) -> Edges:
    """The edges of the first connected graph among ``ATTEMPTS`` draws; strongly connected, if they are directed.

    Raises InputError saying what was ``asked`` (kind and values) and what would help (``advice``) if there is none.
    """
    for _ in range(ATTEMPTS):
        graph = draw()
        if nx.is_strongly_connected(graph) if isinstance(graph, nx.DiGraph) else nx.is_connected(graph):
            return edge_array(graph)
    raise InputError(f"topology {asked}: none of {ATTEMPTS} random graphs was connected; {advice}")


def undirected(edges: Edges, clients: int) -> nx.Graph[int]:
    """The undirected graph that has these edges, with the nodes 0 to ``clients`` - 1."""
    graph: nx.Graph[int] = nx.empty_graph(clients)
    graph.add_edges_from(edges.tolist())
    return graph
