"""The optimisers of local training: torch's own arithmetic on all parameters as one flat tensor.

What an optimiser remembers from step to step belongs to the client, not to the network: its ``state``, float32 (s, d),
for s numbers per parameter, zero before the first step. The number of steps done is told, not remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.sgd import sgd


class Optimiser(Protocol):
    """A step down the gradient for k models at once, in place."""

    @property
    def state_size(self) -> int:
        """s, the numbers it remembers per parameter."""

    def step(
        self,
        parameters: Sequence[Tensor],
        gradients: Sequence[Tensor],
        states: Sequence[Tensor],
        learning_rate: float,
        done: Sequence[int],
    ) -> None:
        """Change k ``parameters`` (d,) and ``states`` (s, d); ``done`` steps came before for each."""


@dataclass(frozen=True)
class Sgd:
    """``torch.optim.SGD``: momentum without dampening, Nesterov's if asked for; weight decay joins the gradient."""

    momentum: float = 0
    nesterov: bool = False
    weight_decay: float = 0

    @property
    def state_size(self) -> int:
        """The velocity, if there is momentum."""
        return 1 if self.momentum else 0

    def step(
        self,
        parameters: Sequence[Tensor],
        gradients: Sequence[Tensor],
        states: Sequence[Tensor],
        learning_rate: float,
        done: Sequence[int],
    ) -> None:
        """Take a step; a velocity starts as the first gradient, for it is zero before."""
        sgd(
            list(parameters),
            list(gradients),
            [state[0] if self.momentum else None for state in states],
            foreach=False,
            fused=self.momentum > 0,
            weight_decay=self.weight_decay,
            momentum=self.momentum,
            lr=learning_rate,
            dampening=0,
            nesterov=self.nesterov,
            maximize=False,
        )


@dataclass(frozen=True)
class Adam:
    """``torch.optim.Adam`` with its usual constants; weight decay joins the gradient."""

    weight_decay: float = 0

    state_size: ClassVar[int] = 2  # the moving means of the gradient and of its square

    def step(
        self,
        parameters: Sequence[Tensor],
        gradients: Sequence[Tensor],
        states: Sequence[Tensor],
        learning_rate: float,
        done: Sequence[int],
    ) -> None:
        """Take a step; ``done`` corrects the bias of the moving means, which start at zero."""
        adam(
            list(parameters),
            list(gradients),
            [state[0] for state in states],
            [state[1] for state in states],
            [],
            list(torch.tensor(done, dtype=torch.float32).to(parameters[0].device, non_blocking=True)),
            foreach=False,
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=learning_rate,
            weight_decay=self.weight_decay,
            eps=1e-8,
            maximize=False,
        )
