"""FedSWE (Xiang et al., JMLR 2026, Algorithm 1); with k = 0 it is FedAWE (Xiang et al., NeurIPS 2024)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from outagefl.rules.server_round import CLIENT_MODELS, Memory, ServerRound, combine


def memory(clients: int, model: Tensor, *, k: float, innovation_clip: float | None) -> Memory:
    """The clients' own models x_i, (m, d), and the round each was last available in, (m,), −1 for never."""
    return {CLIENT_MODELS: model.repeat(clients, 1), "last": torch.full((clients,), -1, dtype=torch.int64)}


def step(seen: ServerRound, memory: Memory, *, k: float, innovation_clip: float | None) -> Tensor:
    """Step x ← (Σ_{i∈A} x_i† + k x) / (|A| + k) with x_i† = x_i − η_g (t − τ_i) G_i; only A receives the new x.

    Clients start from their own models x_i; (t − τ_i) is the number of rounds since client i was last available, which
    makes up for the local steps it missed. ``k`` weighs the current global model (the paper recommends m). A round with
    nobody changes nothing.

    ``innovation_clip``: largest norm of the mean over A of the echoed innovations, before η_g, as in the released
    code (0.5); None is Algorithm 1.
    """
    present, clients = len(seen.innovations), torch.from_numpy(seen.clients)
    if not present:
        return seen.model
    last = memory["last"]
    echo = (seen.number - last[clients]).double().numpy()
    innovation = combine(seen.innovations, echo / present)
    if innovation_clip is not None:
        innovation *= min(1.0, innovation_clip / max(float(innovation.norm()), 1e-12))
    fresh = combine(seen.starts, np.full(present, 1 / present)) - seen.learning_rate * innovation
    model = seen.model + present / (present + k) * (fresh - seen.model)
    memory[CLIENT_MODELS][clients] = model
    last[clients] = seen.number
    return model
