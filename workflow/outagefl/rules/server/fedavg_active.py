"""FedAvg over active clients (McMahan et al., AISTATS 2017): the mean of those who are there."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from outagefl.rules.server_round import Memory, ServerRound, nothing

memory = nothing


def step(seen: ServerRound, memory: Memory) -> Tensor:
    """Step x ← x − η_g · (1/|A|) Σ_{i∈A} G_i."""
    present = len(seen.innovations)
    return seen.descend(np.full(present, 1 / max(present, 1)))
