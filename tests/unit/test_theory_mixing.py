"""The mixing matrices of FedSWE, their spectral norm and the bounds on it, against the paper's definition by hand."""

from itertools import product

import numpy as np
import pytest

from outagefl.analysis.theory import mixing, mixing_bound, mixing_norm
from outagefl.analysis.theory.mixing_bound import bound_gap
from outagefl.randomness import generator

RNG = generator(0, "test")


def as_defined(available, k):
    """(9) entry by entry: W over m + k clients."""
    m = len(available)
    taking_part = [*available, *[True] * k]
    w = np.zeros((m + k, m + k))
    for i, j in product(range(m + k), repeat=2):
        if taking_part[i] and taking_part[j]:
            w[i, j] = 1 / sum(taking_part)
        elif i == j:
            w[i, j] = 1
    return w


def norm_as_defined(p, k):
    """λ₂(E[W Wᵀ]) over all ways in which the window's rounds can turn out."""
    rounds, m = p.shape
    mean = np.zeros((m + k, m + k))
    for outcome in product([False, True], repeat=rounds * m):
        available = np.reshape(outcome, (rounds, m))
        window = np.linalg.multi_dot([np.eye(m + k), *(as_defined(row, k) for row in available)])
        mean += np.where(available, p, 1 - p).prod() * window @ window.T
    return np.linalg.eigvalsh(mean)[-2]


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize(
    "p", [[[0.3, 0.8]], [[0.5, 0.5, 0.5]], [[0.2, 0.9], [0.6, 0.1]], [[0.7, 0], [0, 0.4], [0.5, 1]]]
)
def test_the_norm_is_that_of_the_whole_matrix(p, k):
    assert mixing.rho(np.array(p), k) == pytest.approx(norm_as_defined(np.array(p), k), abs=1e-12)


def test_known_norms():
    assert mixing.rho(np.ones((1, 4)), 3) == pytest.approx(0, abs=1e-12)
    assert mixing.rho(np.zeros((1, 4)), 3) == pytest.approx(1)
    # Two clients, k = 0, p = 1/2: with both available (1/4) they agree, else nothing changes.
    assert mixing.rho(np.full((1, 2), 0.5), 0) == pytest.approx(0.75)
    assert mixing.rho(np.full((1, 10), 0.5), 5) == pytest.approx(0.5255, abs=5e-5)
    # Averages over groups of 5 and 10 virtual clients, in turns: the cosine between their ranges is 5 / 15.
    turns = np.repeat([[1, 0], [0, 1]], 5, axis=1).astype(float)
    assert mixing.rho(turns, 10) == pytest.approx((5 / 15) ** 2)
    assert mixing.rho(turns, 0) == pytest.approx(1)


def test_repetitions_estimate_the_expectation():
    p = np.array([[0.5, 0.2, 0.9], [0.1, 0.6, 0.3]])
    sampled = mixing.sampled_square(RNG, p, 2, 20_000)
    assert sampled == pytest.approx(mixing.expected_square(p, 2), abs=0.02)


def test_bounds_as_printed_and_mended():
    assert 1 - bound_gap(10, 5, 0.5, 2) == pytest.approx(-3.2535, abs=1e-4)
    assert 1 - bound_gap(10, 5, 0.5, 4) == pytest.approx(1 - 30625 * 0.25 / (8 * 15**4))
    assert bound_gap(10, 5, 0.5, 6) == pytest.approx(30625 * 0.25 / (8 * 15**6))
    assert 0 < bound_gap(10, 100, 0.05, 82) < 1e-150  # the power itself is beyond floats in longer windows
    assert bound_gap(10, 100, 0.05, 4 * 100 + 2) == 0


GRID = {"clients": 6, "probabilities": [0.2, 0.7], "group_probabilities": [[0.3, 0.9], [0.5, 0.5]], "group_rounds": 2}


def findings(checked):
    return {finding.statement: finding for finding in checked.findings}


def test_findings_on_the_norm():
    checked = mixing_norm.check(generator(0, "test"), **GRID, virtual_clients=[0, 3, 20], repetitions=200)
    assert checked.values.groupby("panel").size().to_dict() == {"every round": 6, "in turns": 6}
    holds = [finding.holds for finding in checked.findings]
    assert holds == [True, True, True, True, False, False, True]
    found = findings(checked)
    assert found["ρ_k ≈ 0 for k → ∞"].computed == pytest.approx(0.8, abs=1e-6)
    assert found["Worse information fusion means a smaller ρ_k"].computed == pytest.approx(1)
    assert (checked.values["sampled"] - checked.values["rho"]).abs().max() < 0.12


def test_findings_on_the_bounds():
    checked = mixing_bound.check(
        generator(0, "test"), **GRID, virtual_clients=[1, 8], example_probability=0.5, example_virtual_clients=5
    )
    assert [finding.holds for finding in checked.findings] == [False, True, True, True, False]
    # Averages over client 1 and the virtual one, then client 2 and the virtual one: cos² = 1/4, eigenvalue of W 1/4.
    squares = checked.findings[-1]
    assert squares.computed == pytest.approx(1 / 4)
    assert squares.expected == pytest.approx(1 / 16)
    assert checked.values["printed"].isna().equals(checked.values["panel"] == "in turns")
