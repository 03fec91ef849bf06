"""The mixing matrices of FedSWE on m clients and k virtual ones that are always available (FedSWE paper, (9)).

The virtual clients all hold the newest global model, so here one coordinate, scaled by √k, stands for them together:
of the paper's matrix of m + k rows this leaves out only eigenvalues 0. How well a window of rounds mixes is ρ_k, the
second largest eigenvalue of E[W Wᵀ], W being the product of the window's matrices, first round first: of the square
distance from consensus a share of at most ρ_k is left on average (Lemma 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from outagefl.analysis.theory.options import numbers, probability
from outagefl.analysis.theory.result import Array
from outagefl.errors import InputError
from outagefl.inputs import checks

MOST = 12  # clients: the exact expectation is a sum over all sets of them


def mixing_matrices(available: NDArray[np.bool_], k: float) -> Array:
    """W for each row of ``available`` (n, m), (n, m + 1, m + 1): the available average, others keep what they have."""
    n, m = available.shape
    members = np.concatenate([available, np.full((n, 1), np.sqrt(k))], axis=1)
    size = np.square(members).sum(axis=1)  # |A| + k
    average = members[:, :, None] * members[:, None, :] / np.where(size > 0, size, 1)[:, None, None]
    keep = np.concatenate([~available, np.zeros((n, 1))], axis=1)
    matrices: Array = average + keep[:, None, :] * np.eye(m + 1)
    return matrices


def expected_square(p: Array, k: float) -> Array:
    """E[W Wᵀ] of the window with availabilities p (rounds, m), exactly.

    Rounds are independent, so from the last to the first S ← E[W S W], a sum over all 2^m sets of available clients.
    """
    sets = np.array(list(product([False, True], repeat=p.shape[1])))
    square: Array = np.eye(p.shape[1] + 1)
    for chances in p[::-1]:
        chance = np.where(sets, chances, 1 - chances).prod(axis=1)
        w = mixing_matrices(sets[chance > 0], k)
        square = np.tensordot(chance[chance > 0], w @ square @ w, axes=1)
    return square


def sampled_square(rng: np.random.Generator, p: Array, k: float, repetitions: int) -> Array:
    """The mean of W Wᵀ over ``repetitions`` draws of the window with availabilities p (rounds, m), as in Fig. 4."""
    m = p.shape[1]
    window: Array = np.tile(np.eye(m + 1), (repetitions, 1, 1))
    for chances in p:
        window = window @ mixing_matrices(rng.random((repetitions, m)) < chances, k)
    mean: Array = np.mean(window @ window.transpose(0, 2, 1), axis=0)
    return mean


def second_eigenvalue(symmetric: Array) -> float:
    """The second largest eigenvalue; not below 0, which those of E[W Wᵀ] are not."""
    return max(float(np.linalg.eigvalsh(symmetric)[-2]), 0.0)


def rho(p: Array, k: float) -> float:
    """ρ_k of the window with availabilities p (rounds, m)."""
    return second_eigenvalue(expected_square(p, k))


def windows(
    clients: int,
    probabilities: Sequence[float],
    group_probabilities: Sequence[Sequence[float]],
    group_rounds: int,
) -> Iterator[tuple[str, str, Array]]:
    """The dynamics of Fig. 4: panel, availability in words, p (rounds, clients) of a window.

    ``every round``: one round, in which all clients have the same probability (Fig. 4(a)). ``in turns``: the first half
    of the clients may be available for ``group_rounds`` rounds, then the other half (Fig. 4(b)).
    """
    checks.whole("theory.clients", clients, 2, MOST)
    checks.whole("theory.group_rounds", group_rounds, 1)
    for p in numbers("theory.probabilities", probabilities, probability, least=2):
        yield "every round", f"{p:g}", np.full((1, clients), p)
    if not isinstance(group_probabilities, list | tuple) or not group_probabilities:
        raise InputError(f"theory.group_probabilities: {group_probabilities!r} is not a list of pairs of probabilities")
    for pair in group_probabilities:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InputError(f"theory.group_probabilities: {pair!r} is not a pair of probabilities")
        for p in pair:
            probability("theory.group_probabilities", p)
        first, second = pair
        window = np.zeros((2 * group_rounds, clients))
        window[:group_rounds, : clients // 2] = first
        window[group_rounds:, clients // 2 :] = second
        yield "in turns", f"{first:g} / {second:g}", window
