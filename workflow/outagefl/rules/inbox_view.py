"""What an inbox rule sees when a node aggregates, and what it may remember.

A rule is a module with two functions. ``memory(nodes, *, …)`` gives what it keeps from one aggregation to the next for
all nodes, named tensors, before the first one. ``weights(view, memory, *, …)`` returns how much of each inbox entry
goes into the receiver's new model, float64 (k,), not negative and summing to at most 1, and updates the memory in
place; the receiver keeps the rest of its own model. Both get the rule's options. With an empty inbox, k = 0.

What is done with the weights, the local fill included, is the same for all rules (``outagefl.rules.local_fill``).

Notation of the DFL-AA paper: receiver i, sender j, n nodes, ŵ_j the locally filled model, c_j the completeness of a
message, the share of its chunks that arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from outagefl.errors import ConfigError, unknown

Memory = dict[str, Tensor]
Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

NEIGHBOURS = ("in_neighbours", "out_neighbours")


@dataclass(frozen=True)
class InboxView:
    """One node's inbox: the newest message of each in-neighbour that has sent one, k of them, by ascending sender.

    A message stays until its sender's next one replaces it, whether it was aggregated or not and however little of it
    arrived.

    receiver: i. senders: int64 (k,). completeness: c_j as received, float64 (k,); also where missing chunks were filled
    when the message came. generated_at: when j sent it, virtual seconds, float64 (k,). receptions: sender and
    completeness of every message since i's last aggregation, in order, those since replaced and those of which nothing
    arrived included. out_neighbours: whom i sends to, int64. lossy: whether any link of the run loses chunks. rng: a
    generator of this aggregation's own.
    """

    receiver: int
    senders: Ids
    completeness: Floats
    generated_at: Floats
    receptions: Sequence[tuple[int, float]]
    out_neighbours: Ids
    lossy: bool
    rng: np.random.Generator

    def counted(self, over: str) -> NDArray[np.bool_]:
        """Which entries count, bool (k,): all (``in_neighbours``), or those of nodes that i sends to as well.

        ``out_neighbours`` is what the paper's released code does on a directed graph where the paper sums over the
        nodes that i receives from.
        """
        if over not in NEIGHBOURS:
            raise ConfigError(f"over: {unknown('neighbourhood', over, NEIGHBOURS)}")
        if over == "in_neighbours":
            return np.ones(len(self.senders), dtype=bool)
        return np.isin(self.senders, self.out_neighbours)


def evenly(counted: NDArray[np.bool_]) -> Floats:
    """The same weight for i itself and for each entry ``counted``, bool (k,)."""
    shares: Floats = counted / (1 + counted.sum())
    return shares


def nothing(nodes: int, **options: object) -> Memory:
    """The memory of a rule that needs none, whatever its options."""
    return {}
