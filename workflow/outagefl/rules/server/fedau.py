"""FedAU (Wang & Ji, ICLR 2024): innovations weighted by an estimate of the inverse participation probability."""

from __future__ import annotations

import torch
from torch import Tensor

from outagefl.rules.server_round import Memory, ServerRound


def memory(clients: int, model: Tensor, *, longest_interval: int) -> Memory:
    """Rounds since the running interval began, and number and mean of the completed intervals, each (m,)."""
    return {name: torch.zeros(clients, dtype=torch.float64) for name in ("running", "completed", "mean")}


def step(seen: ServerRound, memory: Memory, *, longest_interval: int) -> Tensor:
    """Step x ← x − η_g · (1/m) Σ_{i∈A} ω_i G_i.

    ω_i is the mean length in rounds of client i's participation intervals completed before this round, 1 if there is
    none. A participation completes an interval, and so do ``longest_interval`` absences in a row (K in the paper, 50).
    """
    running, completed, mean = memory["running"], memory["completed"], memory["mean"]
    weight = torch.where(completed > 0, mean, 1.0).numpy()
    running += 1
    ends = torch.from_numpy(seen.available) | (running >= longest_interval)
    completed += ends
    mean += torch.where(ends, (running - mean) / completed.clamp(min=1), 0.0)
    running[ends] = 0
    return seen.descend(weight[seen.clients] / len(seen.available))
