"""AD-PSGD (Lian et al., ICML 2018), with local fill as in the DFL-AA paper, VI."""

from __future__ import annotations

import numpy as np

from outagefl.rules.inbox_view import Floats, InboxView, Memory, nothing

memory = nothing


def weights(view: InboxView, memory: Memory) -> Floats:
    """Half of i and half of one entry, drawn at random."""
    halves = np.zeros(len(view.senders))
    if len(halves):
        halves[partner(len(halves), view.rng)] = 0.5
    return halves


def partner(entries: int, rng: np.random.Generator) -> int:
    """The entry, from 0, that is averaged with, each equally likely."""
    return int(rng.integers(entries))
