"""Communities on disk: to which community of the graph each client belongs, (clients,) int64, from 0."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outagefl import components
from outagefl.errors import DataError
from outagefl.inputs import graphs, networks, storage
from outagefl.randomness import generator

log = logging.getLogger(__name__)


def create(spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Divide the graph of the ``topology`` it needs as ``spec`` (communities, seed) says; write it to ``target``."""
    membership, options = components.load("communities", spec["communities"])
    graph = networks.undirected(*graphs.load(needs["topology"]))
    community = membership(graph, generator(spec["seed"], "communities"), **options)
    log.info("clients by community: %s", ", ".join(map(str, np.bincount(community))))
    storage.write(target, community=community)


def load(path: Path | str, clients: int) -> NDArray[np.int64]:
    """Each client's community; DataError naming the file if it does not hold those of ``clients`` clients."""
    [community] = storage.read(path, "community")
    if community.shape != (clients,) or community.dtype != np.int64:
        raise DataError(f"{path}: expected the communities of {clients} clients as 64-bit integers")
    if not np.array_equal(np.unique(community), np.arange(community.max() + 1)):
        raise DataError(f"{path}: communities are numbered from 0 without a gap")
    return community


def standardised(online: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Columns of mean 0 and length 1, whose products are correlations; of a client that never changes 0; same shape."""
    deviation = online - online.mean(axis=0)
    changing = online.any(axis=0) & ~online.all(axis=0)
    standard: NDArray[np.float64] = deviation * changing / np.where(changing, np.linalg.norm(deviation, axis=0), 1)
    return standard


def correlations(online: NDArray[np.bool_], community: NDArray[np.int64]) -> tuple[float, float]:
    """How alike two clients of one community are online, and two of different ones: mean correlation over the rounds.

    ``online``: (rounds, clients). Clients that are always or never online have no correlation and are left out; NaN
    where no pair is left.
    """
    standard = standardised(online)
    sums = np.zeros((community.max() + 1, len(online)))
    np.add.at(sums, community, standard.T)
    sizes = np.bincount(community, weights=standard.any(axis=0))
    # the sum of all products and their number, less those of a client with itself
    alike = np.array([(sums**2).sum(), (sizes**2).sum()]) - sizes.sum()
    all_pairs = np.array([(sums.sum(axis=0) ** 2).sum(), sizes.sum() ** 2]) - sizes.sum()
    within, between = (float(total / count) if count else np.nan for total, count in (alike, all_pairs - alike))
    return within, between


def report(online: NDArray[np.bool_], community: NDArray[np.int64]) -> None:
    """Log the ``correlations``."""
    within, between = correlations(online, community)
    log.info("correlation of two clients: %.3f within a community, %.3f between communities", within, between)
