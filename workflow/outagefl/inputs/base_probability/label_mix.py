"""Clients are online as often as their classes allow: availability that goes with the labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator

LABELS = ("drawn", "realised")
FIRST_HALF, SECOND_HALF = 1.0, 0.5  # Φ_c, the most a class can contribute


def probabilities(clients: int, partition: Partition, seed: int, *, labels: str) -> NDArray[np.float64]:
    """p_i = ⟨ν_i, φ⟩ with φ_c ~ U(0, 1) for the first half of the classes and U(0, 0.5) for the others, (clients,).

    FedSWE paper, section 7.1 and appendix H.2. ``labels``: ν_i is the mix that client i drew (``drawn``, the paper) or
    the mix of the training images it got (``realised``, the paper's released code). An odd class in the middle belongs
    to the second half (our choice). φ depends on the seed and the number of classes alone.

    Raises InputError for a partition of another number of clients or without the label mixes asked for.
    """
    checks.choice("availability.probability.base.labels", labels, LABELS)
    mix = partition.mix if labels == "drawn" else partition.realised_mix()
    if mix is None:
        raise InputError(f"availability.probability.base.labels: the partition knows no {labels} label mixes")
    if len(mix) != clients:
        raise InputError(f"availability.probability.base: the partition has {len(mix)} clients, expected {clients}")
    return mix @ class_contributions(mix.shape[1], seed)


def class_contributions(classes: int, seed: int) -> NDArray[np.float64]:
    """φ, (classes,)."""
    most = np.where(np.arange(classes) < classes // 2, FIRST_HALF, SECOND_HALF)
    return most * generator(seed, "class contributions").random(classes)
