"""FedVARP (Jhunjhunwala et al., UAI 2022): remembered innovations as control variates against sampling variance."""

from __future__ import annotations

import torch
from torch import Tensor

from outagefl.rules.server_round import Memory, ServerRound


def memory(clients: int, model: Tensor) -> Memory:
    """Every client's newest innovation y_i, (m, d), zero before its first."""
    return {"newest": model.new_zeros(clients, len(model))}


def step(seen: ServerRound, memory: Memory) -> Tensor:
    """Step x ← x − η_g · ((1/|A|) Σ_{i∈A} (G_i − y_i) + (1/m) Σ_i y_i) with the y of before; then y_i ← G_i.

    A round with nobody changes nothing.
    """
    if not len(seen.innovations):
        return seen.model
    newest, clients = memory["newest"], torch.from_numpy(seen.clients)
    overall = newest.mean(dim=0)
    surprise = (seen.innovations - newest[clients]).mean(dim=0)
    newest[clients] = seen.innovations
    return seen.model - seen.learning_rate * (surprise + overall)
