"""MIFA (Gu et al., NeurIPS 2021): the newest innovation of every client stands in for it while it is away."""

from __future__ import annotations

import torch
from torch import Tensor

from outagefl.rules.server_round import Memory, ServerRound


def memory(clients: int, model: Tensor) -> Memory:
    """Every client's newest innovation, (m, d), zero before its first."""
    return {"newest": model.new_zeros(clients, len(model))}


def step(seen: ServerRound, memory: Memory) -> Tensor:
    """Step x ← x − η_g · (1/m) Σ_i (newest G_i), also in a round with nobody."""
    memory["newest"][torch.from_numpy(seen.clients)] = seen.innovations
    return seen.model - seen.learning_rate * memory["newest"].mean(dim=0)
