"""SWIFT with a receiver that weighs no more than a neighbour (an option of the DFL-AA paper's released code)."""

from __future__ import annotations

import numpy as np

from outagefl.rules.inbox_view import Floats, InboxView, Memory, evenly, nothing

memory = nothing


def weights(view: InboxView, memory: Memory) -> Floats:
    """1 / (1 + k) of i and of each of the k entries.

    The control that tells what DFL-AA owes to its self weight from what it owes to its factors. The weights are those
    of ``soft_dsgd`` over the in-neighbours.
    """
    return evenly(np.ones(len(view.senders), dtype=bool))
