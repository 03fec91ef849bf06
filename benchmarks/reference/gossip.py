"""Synchronous mixing of state_dicts, neighbour by neighbour and key by key."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from reference.server import State


def average(states: Sequence[State], weights: Sequence[float]) -> State:
    """The weighted sum of models."""
    result = copy.deepcopy(states[0])
    for key in result:
        result[key] *= weights[0]
        for state, weight in zip(states[1:], weights[1:], strict=True):
            result[key] += weight * state[key]
    return result


def mix(
    states: Sequence[State], weights: Sequence[Sequence[float]], neighbours: Sequence[Sequence[int]], who: Iterable[int]
) -> list[State]:
    """The new models of the clients ``who``; ``neighbours`` of a client, itself among them, with ``weights``."""
    return [average([states[j] for j in neighbours[i]], weights[i]) for i in who]
