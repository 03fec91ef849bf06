"""Training clients as one stack gives what training them one after the other does, up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from outagefl.datasets.arrays import ImageData
from outagefl.errors import TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.training import stacked
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import StackedTrainer, trainer_class

SIZES = (20, 40, 17, 40, 20, 3)  # training images of each client
CLIENTS = len(SIZES)
MLP = {"kind": "mlp", "hidden": [8, 6], "dropout": 0.3}
CNN = {"kind": "cnn", "channels": [3], "hidden": [6], "dropout": 0.3}  # drops twice
RESIDUAL = {"kind": "residual_cnn", "channels": [4, 4], "hidden": [6]}


@pytest.fixture(scope="module")
def data() -> ImageData:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (sum(SIZES), 8, 8, 2), dtype=np.uint8), rng.integers(0, 3, sum(SIZES))
    return ImageData(x, y, x, y, ("a", "b", "c"), (0.5, 0.4), (0.3, 0.2), "")


def make(kind: type[LocalTrainer], data: ImageData, model: dict[str, Any], **options: Any) -> LocalTrainer:
    parts = tuple(np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1]))
    settings = {"steps": 3, "batch_size": 8, "learning_rate": 0.01, "order": "whole_epochs"} | options
    return kind(
        initial_model(model, (8, 8, 2), 3, 0), data, Partition(parts, parts), 0, torch.device("cpu"), **settings
    )


def play(work: LocalTrainer, calls: list[list[int]]) -> tuple[Tensor, Tensor]:
    """The models and optimiser states after these clients have trained, call by call."""
    rows, states = work.model.row().repeat(CLIENTS, 1), work.optimiser_states(CLIENTS)
    done = np.zeros(CLIENTS, dtype=int)
    for clients in calls:
        chosen = np.array(clients, dtype=int)
        work.train([rows[i] for i in clients], chosen, done[chosen] + 1, done[chosen], [states[i] for i in clients])
        done[chosen] += 1
    return rows, states


@pytest.mark.parametrize("model", [MLP, CNN, RESIDUAL], ids=lambda model: model["kind"])
@pytest.mark.parametrize(
    "options",
    [
        {"optimiser": "adam", "learning_rate": 0.001},
        {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01, "clip_norm": 0.2, "schedule": "inverse_sqrt"},
        {"unit": "epochs", "steps": 1, "augmentation": "image"},
    ],
    ids=["adam", "clipped", "epochs"],
)
def test_a_stack_learns_what_its_clients_learn_alone(
    data: ImageData, model: dict[str, Any], options: dict[str, Any]
) -> None:
    """Batches of several sizes, clients in different rounds, dropout, running statistics."""
    calls = [[0, 1, 2, 3, 4, 5], [1, 4], [3, 5, 1, 0]]
    rows, states = play(make(StackedTrainer, data, model, **options), calls)
    expected, expected_states = play(make(LocalTrainer, data, model, **options), calls)
    torch.testing.assert_close(rows, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(states, expected_states, rtol=1e-3, atol=1e-5)
    assert len(rows.unique(dim=0)) == CLIENTS


def test_clients_with_batches_of_equal_sizes_train_together(data: ImageData, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    once = StackedTrainer._train_stack

    def watched(self: StackedTrainer, work: Any, *others: Any) -> Tensor:
        seen.append([one.client for one in work])
        return once(self, work, *others)

    monkeypatch.setattr(StackedTrainer, "_train_stack", watched)
    monkeypatch.setattr(stacked, "STACK", 2)
    play(make(StackedTrainer, data, MLP), [[5, 4, 3, 2, 1, 0]])
    assert seen == [[5], [4, 0], [3, 1], [2]]


def test_small_networks_are_stacked() -> None:
    found = [trainer_class(initial_model({"kind": "mlp", "hidden": [n, n]}, (8, 8, 2), 3, 0)) for n in (32, 256)]
    assert found == [StackedTrainer, LocalTrainer]


def test_the_global_generator_and_dropout_are_left_as_they_were(data: ImageData) -> None:
    work = make(StackedTrainer, data, MLP)
    before = torch.get_rng_state()
    play(work, [[0, 1, 4]])
    assert torch.equal(torch.get_rng_state(), before)
    row = work.model.row()
    play(work, [[2]])
    assert torch.equal(work.measure(row, data.x_test, data.y_test), work.measure(row, data.x_test, data.y_test))
    assert all(layer.training for layer in work.model.module.train().modules())


def test_diverging_training_names_the_client(data: ImageData) -> None:
    work = make(StackedTrainer, data, CNN, learning_rate=1e30)
    with pytest.raises(TrainingError, match=r"client 3: .*training in round 1 "):
        play(work, [[3]])


def test_nobody_is_no_work(data: ImageData) -> None:
    play(make(StackedTrainer, data, MLP), [[]])
