"""Outages that go with the graph: devices of similar habits are neighbours (the SFG article's follow-up)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from outagefl.errors import InputError
from outagefl.inputs import availabilities, checks, memberships


def matrix(
    rounds: int, clients: int, rng: np.random.Generator, *, of: Path, coupling: float, communities: Path
) -> NDArray[np.bool_]:
    """The columns of another availability, each given to one client, (rounds, clients).

    Devices are given to clients at random. Then a random share ``coupling`` of clients exchange theirs, so that the
    order of their devices by ``habit`` is that of the clients by community: at 0 a device's place says nothing, at 1
    clients of one community have the most similar devices there are. How many clients are online in a round does not
    depend on it. ``of``: a file of who is online when (``outagefl.inputs.availabilities``); ``communities``: a file
    (``outagefl.inputs.memberships``). The model is our choice.

    The random numbers drawn do not depend on the coupling: who takes part under one seed does so at a higher one, too.
    """
    checks.number("availability.coupling", coupling, 0, 1)
    online = availabilities.load(of)
    if online.shape != (rounds, clients):
        raise InputError(f"{of}: availability of shape {online.shape}, expected {(rounds, clients)} (rounds, clients)")
    community = memberships.load(communities, clients)
    device = rng.permutation(clients)
    taking_part = rng.permutation(clients)[: round(coupling * clients)]
    theirs = device[taking_part]
    places = taking_part[np.argsort(community[taking_part], kind="stable")]
    device[places] = theirs[np.argsort(habit(online)[theirs], kind="stable")]
    placed: NDArray[np.bool_] = online[:, device]
    memberships.report(placed, community)
    return placed


def habit(online: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A number from 0 to 2π for each device that is near for those online at the same times, (devices,).

    ``online``: (rounds, devices). In the plane of the first two principal components of the devices' correlations,
    those that follow the same day at other hours lie on a circle; the number is the angle, from the widest gap on. It
    is 0 for a device that is always or never online, and for all where fewer than three change: two have no order.
    """
    standard = memberships.standardised(online)
    changing = np.asarray(standard.any(axis=0))
    if changing.sum() < 3:
        return np.zeros(len(changing))
    _, scales, axes = np.linalg.svd(standard, full_matrices=False)
    first, second = (scales[i] * axes[i] * np.sign(axes[i][np.abs(axes[i]).argmax()]) for i in (0, 1))
    angle: NDArray[np.float64] = np.arctan2(second, first)
    around = np.sort(angle[changing])
    widest = np.diff(around, prepend=around[-1] - 2 * np.pi).argmax()
    return np.where(changing, (angle - around[widest]) % (2 * np.pi), 0)
