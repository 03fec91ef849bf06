"""Named randomness: every random draw has its own generator, keyed by seed, purpose and ids such as client and round.

Nothing in the package touches a global generator. Two methods of one seed therefore share partition, graph, outages,
initial model and batches, and no draw depends on the order in which others were made.
"""

from __future__ import annotations

import zlib

import numpy as np


def sequence(seed: int, purpose: str, *ids: int) -> np.random.SeedSequence:
    """The seed sequence of one purpose, e.g. ``sequence(seed, "batches", client, round)``."""
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *ids))


def generator(seed: int, purpose: str, *ids: int) -> np.random.Generator:
    """A fresh NumPy generator for one purpose; the same arguments always give the same draws."""
    return np.random.default_rng(sequence(seed, purpose, *ids))
