"""A client of a server: it is given a model, trains it and hands it back."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reference.data import Loader

State = dict[str, Tensor]


class Client:
    """One network and one DataLoader of its own."""

    def __init__(self, model: nn.Module, loader: Loader) -> None:
        self.model, self.loader = model, loader

    def train(self, state: State, steps: int, learning_rate: float, clip_norm: float) -> State:
        """The model after some steps of SGD from ``state``."""
        self.model.load_state_dict(state)
        self.model.train()
        optimiser = torch.optim.SGD(self.model.parameters(), lr=learning_rate)
        batches = iter(self.loader)
        for _ in range(steps):
            try:
                x, y = next(batches)
            except StopIteration:
                batches = iter(self.loader)
                x, y = next(batches)
            optimiser.zero_grad()
            cross_entropy(self.model(x), y).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), clip_norm)
            optimiser.step()
        return copy.deepcopy(self.model.state_dict())
