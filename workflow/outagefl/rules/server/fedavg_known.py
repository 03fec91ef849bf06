"""FedAvg with known probabilities (Perazzone et al., ICC 2022): innovations weighted by the inverse of p_i^t."""

from __future__ import annotations

from torch import Tensor

from outagefl.errors import ConfigError, InputError
from outagefl.rules.server_round import Memory, ServerRound, nothing

memory = nothing


def step(seen: ServerRound, memory: Memory) -> Tensor:
    """Step x ← x − η_g · (1/m) Σ_{i∈A} G_i / p_i^t.

    Raises ConfigError where the availability has no probabilities, such as a recorded trace, and InputError when a
    client is available whose probability is 0: its weight would be infinite.
    """
    if seen.probability is None:
        raise ConfigError(
            "rule fedavg_known: needs an availability of kind 'independent', whose probabilities are known"
        )
    known = seen.probability[seen.clients]
    if (known <= 0).any():
        client = int(seen.clients[known.argmin()])
        raise InputError(
            f"rule fedavg_known: client {client} is available in round {seen.number + 1}, but its probability is 0"
        )
    return seen.descend(1 / (len(seen.available) * known))
