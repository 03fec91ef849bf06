"""FedAvg over all clients (FedSWE paper, appendix H.1): who is absent counts as an innovation of zero."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from outagefl.rules.server_round import Memory, ServerRound, nothing

memory = nothing


def step(seen: ServerRound, memory: Memory) -> Tensor:
    """Step x ← x − η_g · (1/m) Σ_{i∈A} G_i."""
    return seen.descend(np.full(len(seen.innovations), 1 / len(seen.available)))
