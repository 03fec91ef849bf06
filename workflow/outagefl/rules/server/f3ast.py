"""F3AST (Ribero et al., 2022): innovations weighted by the inverse of a moving average of participation."""

from __future__ import annotations

import torch
from torch import Tensor

from outagefl.errors import ConfigError, unknown
from outagefl.rules.server_round import Memory, ServerRound

INITIAL = ("first_round", "one")


def memory(clients: int, model: Tensor, *, beta: float, initial: str) -> Memory:
    """The participation rates r_i, (m,); zero stands for not known yet."""
    if initial not in INITIAL:
        raise ConfigError(f"initial: {unknown('initial rate', initial, INITIAL)}")
    return {"rate": torch.full((clients,), float(initial == "one"), dtype=torch.float64)}


def step(seen: ServerRound, memory: Memory, *, beta: float, initial: str) -> Tensor:
    """Step x ← x − η_g · (1/m) Σ_{i∈A} G_i / r_i, where r_i ← (1 − β) r_i + β·1{i ∈ A} comes first.

    Everyone available takes part. ``initial`` is what the rates start from: with ``first_round`` the share available
    in the first round that has anybody (our choice: the paper is silent), with ``one`` 1. At a β of 0.001 it matters.
    """
    rate = memory["rate"]
    if not rate.any():
        rate += seen.available.mean()
    if rate.any():
        rate += beta * (torch.from_numpy(seen.available).to(rate) - rate)
    return seen.descend(1 / (len(seen.available) * rate.numpy()[seen.clients]))
