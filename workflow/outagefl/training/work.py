"""A unit of local training."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Work:
    """A round's training of one client: its model and its optimiser's state, both changed in place.

    rounds_done: the rounds the client has trained in before. steps_done: the steps its optimiser has taken before.
    """

    client: int
    row: Tensor
    state: Tensor
    round_number: int
    rounds_done: int
    steps_done: int
