"""What a server rule sees of a round, and what it may remember.

A rule is a module with two functions. ``memory(clients, model, *, …)`` gives what it keeps from round to round, named
tensors, before the first one. ``step(seen, memory, *, …)`` returns the global model after a round, (d,), and updates
the memory in place; it is called in every round, also when nobody is available. Both get the rule's options.

Notation of the FedSWE paper: m clients, d parameters, round t from 0, A^t the available clients, G_i = x_start − x_end
the innovation of client i's local steps, η_g the global learning rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Memory = dict[str, Tensor]

CLIENT_MODELS = "client_models"
"""Key of the models (m, d) that clients keep and start their local steps from, where a rule has them do so.

Each row is held by its client; everything else in the memory is the server's, or a number per client.
"""

UNAMPLIFIED = "unamplified"
"""Key of a model (d,) that a rule wants to be measured beside the one it returns; forgotten after the round."""


@dataclass(frozen=True)
class ServerRound:
    """One round as a rule sees it.

    number: t, from 0. model: x^t, (d,). available: bool (m,). starts, innovations: of the available clients, in
        ascending order, the models they started from and the rows G_i, (|A^t|, d). probability: p_i^t, float64 (m,),
        or None where not known. learning_rate: η_g.
    """

    number: int
    model: Tensor
    available: NDArray[np.bool_]
    starts: Tensor
    innovations: Tensor
    probability: NDArray[np.float64] | None
    learning_rate: float

    @property
    def clients(self) -> NDArray[np.int64]:
        """The available clients A^t, ascending."""
        return np.flatnonzero(self.available)

    def descend(self, coefficients: NDArray[np.float64]) -> Tensor:
        """x^t − η_g Σ_i c_i G_i with ``coefficients`` c (|A^t|,); x^t itself when nobody is available."""
        if not len(self.innovations):
            return self.model
        return self.model - self.learning_rate * combine(self.innovations, coefficients)


def combine(rows: Tensor, coefficients: NDArray[np.float64]) -> Tensor:
    """Σ_i c_i row_i of ``rows`` (k, d) with ``coefficients`` (k,)."""
    return torch.from_numpy(coefficients).to(rows) @ rows


def nothing(clients: int, model: Tensor) -> Memory:
    """The memory of a rule that needs none."""
    return {}
