"""Graphs as arrays of edges: (E, 2) int64, sorted, each edge once.

An edge of an undirected graph is [i, j] with i < j. One of a directed graph is [source, target]: the source sends.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.inputs import storage
from outagefl.randomness import generator

Edges = NDArray[np.int64]


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Draw the graph of ``spec`` (topology, clients, seed) and write it to ``target``; needs nothing."""
    edges, options = components.load("topology", spec["topology"])
    save(target, edges(spec["clients"], generator(spec["seed"], "topology"), **options), spec["clients"])


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
