"""Single rounds of the gossip engine, followed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from outagefl import components
from outagefl.engines import gossip
from outagefl.inputs.graphs import adjacency
from outagefl.rules.gossip_view import GossipView

AS_EVERYONE = ("train_then_mix", "trains_and_mixes")
TRIANGLE = np.array([[0, 1], [0, 2], [1, 2]])
PATH = np.array([[0, 1], [1, 2]])
# Client 0 misses rounds 1 and 2; client 2 is away in round 4 and in the last; nobody is there in round 5.
AVAILABLE = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=bool)


class AddsOne:
    """Training that can be followed by hand, and remembers how many rounds it was told each client had trained in."""

    def __init__(self) -> None:
        self.rounds_done: list[dict[int, int]] = []

    def train(self, rows: Any, clients: np.ndarray, round_number: int, rounds_done: np.ndarray) -> None:
        for row in rows:
            row.add_(1)
        self.rounds_done.append(dict(zip(clients.tolist(), rounds_done.tolist(), strict=True)))


@pytest.mark.parametrize(
    ("returning", "order", "models", "lag", "age", "self_weight"),
    [
        ("trains_and_mixes", "train_then_mix", [13, 13], [1, 1], [0, 0], 0.5),
        ("trains_and_mixes", "mix_then_train", [13, 13], [1, 1], [0, 0], 0.5),
        ("only_mixes", "train_then_mix", [12.5, 12.5], [1, 1], [0, 3], 0.5),
        ("only_mixes", "mix_then_train", [13, 12], [1, 1], [0, 3], 0.5),
        ("only_trains", "train_then_mix", [21, 5], [0, 2], [0, 0], 1),
        ("only_trains", "mix_then_train", [21, 5], [0, 2], [0, 0], 1),
    ],
)
def test_what_a_client_does_in_its_first_round_back(
    returning: str, order: str, models: list[float], lag: list[float], age: list[float], self_weight: float
) -> None:
    """Client 0 with model 20 stayed, client 1 with model 4 missed two rounds; the plain mean of both.

    In the round after it does what everyone does.
    """
    state = gossip.start(torch.zeros(1), 2, 2)
    state.models[:, 0] = torch.tensor([20.0, 4.0])
    state.lag, state.age, state.online = np.array([0.0, 2.0]), np.array([0.0, 2.0]), np.array([True, False])
    state.rounds_trained[:] = [2, 0]
    scores, _ = components.load("gossip rule", {"kind": "dfedavg"})
    trainer, pair, both = AddsOne(), adjacency(np.array([[0, 1]]), 2), np.array([True, True])
    gossip.advance(state, scores, trainer, pair, both, order, returning)
    assert state.models[:, 0].tolist() == models
    assert state.lag.tolist() == lag
    assert state.age.tolist() == age
    assert state.metrics["self_weight"][0].tolist() == [self_weight] * 2
    assert state.metrics["neighbours"][0].tolist() == [1 / self_weight - 1] * 2
    gossip.advance(state, scores, trainer, pair, both, order, returning)
    assert state.models[:, 0].tolist() == pytest.approx([np.mean(models) + 1] * 2)
    assert state.age.tolist() == [0, 0]
    done = [{0: 2}, {0: 3, 1: 0}] if returning == "only_mixes" else [{0: 2, 1: 0}, {0: 3, 1: 1}]
    assert trainer.rounds_done == done


def test_the_mean_gap_is_that_of_the_candidates_met_before() -> None:
    """Without mixing, lags are 2, 0, 0 in rounds 3 and 4 and 3, 1, 2 in round 6.

    Client 0 sees gaps 2, 0, then 2, then 2, 1; client 1 also 0, 0 before; client 2 misses round 4.
    """
    state = gossip.start(torch.zeros(1), 3, len(AVAILABLE))
    seen = []

    def local(view: GossipView) -> np.ndarray:
        seen.append(view.mean_gap.tolist())
        return np.eye(3)

    for online in AVAILABLE:
        gossip.advance(state, local, AddsOne(), adjacency(TRIANGLE, 3), online, *AS_EVERYONE)
    assert seen[:3] == [[np.inf] * 3, [np.inf, 0, 0], [np.inf, 0, 0]]
    assert np.array(seen[3:]) == pytest.approx(
        np.array([[2 / 2, 2 / 4, 2 / 4], [4 / 3, 4 / 5, 2 / 4], [4 / 3, 4 / 5, 2 / 4], [7 / 5, 7 / 7, 5 / 6]])
    )


def test_a_client_without_online_neighbours_observes_no_gap() -> None:
    state = gossip.start(torch.zeros(1), 3, 1)
    state.lag[:] = [5, 0, 0]
    scores, _ = components.load("gossip rule", {"kind": "dfedavg"})
    gossip.advance(state, scores, AddsOne(), adjacency(PATH, 3), np.array([True, False, True]), *AS_EVERYONE)
    assert gossip.mean_gap(state).tolist() == [np.inf] * 3
