"""What is left of push-sum's weights when messages are lost."""

import numpy as np
import pytest

from outagefl.analysis.theory.push_sum import step

BOTH_WAYS = np.array([[0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2]])  # out-degree 2


def test_weights_move_along_the_edges_and_stay_in_total_without_loss():
    edges = np.array([[0, 1], [0, 2], [1, 2]])
    assert step(np.array([3.0, 2.0, 1.0]), edges, np.ones(3)).tolist() == [1, 1 + 1, 1 + 1 + 1]


def test_what_is_lost_is_missing_from_then_on():
    assert step(np.ones(2), np.array([[0, 1], [1, 0]]), np.array([0.0, 0.5])).tolist() == [0.75, 0.5]


def test_the_total_drains_geometrically_on_a_regular_graph():
    rng, total, q = np.random.default_rng(0), np.ones((4000, 3)), 0.7
    for _ in range(3):
        total = step(total, BOTH_WAYS, rng.random((4000, 6)) < q)
    assert total.sum(axis=1).mean() == pytest.approx(3 * ((1 + 2 * q) / 3) ** 3, rel=0.02)  # standard error 0.005
