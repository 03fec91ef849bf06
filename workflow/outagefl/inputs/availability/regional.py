"""Outages that strike the communities of the graph: clients of one community go offline and return together."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import checks, memberships

KEPT, OFFLINE, ONLINE = -1, 0, 1
LONGEST = 1e4  # mean run in rounds; the longer, the more of the past has to be drawn


def matrix(
    rounds: int,
    clients: int,
    rng: np.random.Generator,
    *,
    mean_on: float,
    mean_off: float,
    correlation: float,
    communities: Path,
) -> NDArray[np.bool_]:
    """Each client is the Markov chain of ``markov``, correlated with those of its community, (rounds, clients).

    ``correlation``: that of the states of two clients of one community in one round, exactly; 0 makes them independent,
    1 equal. Clients of different communities are independent. ``communities``: a file of ``inputs.memberships``.

    The model is our choice. A chain that is online for a share π of the time can be played like this: with probability
    ρ = 1 / mean_on + 1 / mean_off its state is drawn anew, online with probability π; else it is kept. Here a client
    follows, in each round with probability √s, what is drawn for its whole community, else what is drawn for itself.
    So two clients share a round's draw with probability s, and their correlation r is stationary where
    r = (1 - s) (1 - ρ)² r + s (ρ + (1 - ρ) r), that is s = r (2 - ρ) / (1 + r (1 - ρ)).

    All clients are in their joint stationary state from the first round on: where a state is kept in the first round,
    rounds before it are drawn until one has drawn it anew (coupling from the past, Propp and Wilson 1996).

    Raises InputError for options out of range and for ρ above 1, a chain that would rather change than keep its state.
    """
    checks.number("availability.mean_on", mean_on, 1, LONGEST)
    checks.number("availability.mean_off", mean_off, 1, LONGEST)
    checks.number("availability.correlation", correlation, 0, 1)
    anew = 1 / mean_on + 1 / mean_off
    if anew > 1:
        raise InputError(
            f"availability.mean_on, availability.mean_off: 1/{mean_on:g} + 1/{mean_off:g} is above 1; "
            "expected longer runs"
        )
    community = memberships.load(communities, clients)
    shared = correlation * (2 - anew) / (1 + correlation * (1 - anew))
    levels = [anew * mean_on / (mean_on + mean_off), anew]

    def states(columns: int) -> NDArray[np.int64]:
        return np.array([ONLINE, OFFLINE, KEPT])[np.digitize(rng.random((rounds, columns)), levels)]

    def draw() -> NDArray[np.int64]:
        common, own = states(community.max() + 1), states(clients)
        return _carried_on(np.where(rng.random((rounds, clients)) < sqrt(shared), common[:, community], own))

    state = draw()
    while (state[0] == KEPT).any():
        state[0] = np.where(state[0] == KEPT, draw()[-1], state[0])
    online: NDArray[np.bool_] = _carried_on(state) == ONLINE
    memberships.report(online, community)
    return online


def _carried_on(state: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every state that is kept replaced by the last one before it that is not; those before all others stay."""
    last = np.maximum.accumulate(np.where(state == KEPT, 0, np.arange(len(state))[:, None]), axis=0)
    return np.take_along_axis(state, last, axis=0)
