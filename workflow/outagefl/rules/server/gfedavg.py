"""Generalised FedAvg (Wang & Ji, NeurIPS 2022): FedAvg whose progress over a period is amplified at its end."""

from __future__ import annotations

from torch import Tensor

from outagefl.rules import server_round
from outagefl.rules.server import fedavg_active
from outagefl.rules.server_round import Memory, ServerRound


def memory(clients: int, model: Tensor, *, period: int, amplification: float) -> Memory:
    """The model at the start of the running period, (d,)."""
    return {"anchor": model.clone()}


def step(seen: ServerRound, memory: Memory, *, period: int, amplification: float) -> Tensor:
    """Step x ← x − η_g · (1/|A|) Σ_{i∈A} G_i; at the end of a period then x ← x₀ + amplification · (x − x₀), x₀ ← x.

    x₀ is the model at the period's start. The period is one of the clock: it ends with round t where (t + 1) mod
    ``period`` = 0, whoever is available then. The model from before the amplification is left to be measured.
    """
    model = fedavg_active.step(seen, {})
    if (seen.number + 1) % period:
        return model
    memory[server_round.UNAMPLIFIED] = model
    amplified = memory["anchor"] + amplification * (model - memory["anchor"])
    memory["anchor"] = amplified.clone()
    return amplified
