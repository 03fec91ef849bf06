"""Graphs as arrays of edges: (E, 2) int64, sorted, each edge once.

An edge of an undirected graph is [i, j] with i < j. One of a directed graph is [source, target]: the source sends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError, InputError
from outagefl.inputs import storage
from outagefl.randomness import generator

Edges = NDArray[np.int64]

ATTEMPTS = 200  # random graphs drawn in search of a connected one


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Draw the graph of ``spec`` (topology, clients, seed) and write it to ``target``; needs nothing."""
    edges, options = components.load("topology", spec["topology"])
    save(target, edges(spec["clients"], generator(spec["seed"], "topology"), **options), spec["clients"])


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


def adjacency(edges: Edges, clients: int) -> NDArray[np.bool_]:
    """The symmetric adjacency matrix of an undirected graph, (clients, clients), without self-loops."""
    matrix = np.zeros((clients, clients), dtype=bool)
    matrix[edges[:, 0], edges[:, 1]] = True
    return matrix | matrix.T


def save(path: Path | str, edges: Edges, clients: int) -> None:
    """Write a graph as one ``.npz``."""
    storage.write(path, edges=edges, clients=np.array(clients))


def load(path: Path | str) -> tuple[Edges, int]:
    """Read a graph: its edges and the number of clients. Raises DataError naming the file if it cannot be one."""
    edges, count = storage.read(path, "edges", "clients")
    if count.shape or edges.ndim != 2 or edges.shape[1] != 2 or not count.dtype == edges.dtype == np.int64:
        raise DataError(f"{path}: a graph holds its edges (E, 2) and the number of clients as 64-bit integers")
    clients = int(count)
    if not ((edges >= 0) & (edges < clients)).all() or (edges[:, 0] == edges[:, 1]).any():
        raise DataError(f"{path}: an edge joins two different clients of 0 to {clients - 1}")
    if len(np.unique(edges, axis=0)) < len(edges):
        raise DataError(f"{path}: an edge stands twice")
    return edges, clients
