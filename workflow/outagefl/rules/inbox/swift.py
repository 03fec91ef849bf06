"""SWIFT (Bornstein et al., ICLR 2023), with local fill as in the DFL-AA paper, VI."""

from __future__ import annotations

import numpy as np

from outagefl.rules.inbox_view import Floats, InboxView, Memory, nothing

memory = nothing


def weights(view: InboxView, memory: Memory, *, own_weight: float) -> Floats:
    """``own_weight`` of i (0.5) and the rest split evenly over the entries."""
    entries = len(view.senders)
    return np.full(entries, (1 - own_weight) / max(entries, 1))
