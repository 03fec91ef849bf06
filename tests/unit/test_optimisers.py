"""Optimisers against torch's own, step by step, and how a client's state survives rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from outagefl.datasets.arrays import ImageData
from outagefl.errors import ConfigError
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.training.batches import persistent
from outagefl.training.initial import initialise
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.options import TrainingOptions
from outagefl.training.parameters import BoundModel

CPU = torch.device("cpu")
SETTINGS: dict[str, tuple[dict[str, Any], Callable[[Iterable[Tensor]], torch.optim.Optimizer], int]] = {
    "sgd": ({}, lambda p: torch.optim.SGD(p, 0.05), 0),
    "decay": ({"weight_decay": 5e-2}, lambda p: torch.optim.SGD(p, 0.05, weight_decay=5e-2), 0),
    "momentum": (
        {"momentum": 0.9, "weight_decay": 5e-2},
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=5e-2),
        1,
    ),
    "nesterov": (
        {"momentum": 0.9, "nesterov": True},
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True),
        1,
    ),
    "adam": ({"optimiser": "adam"}, lambda p: torch.optim.Adam(p, 0.05), 2),
    "adam_decay": (
        {"optimiser": "adam", "weight_decay": 5e-2},
        lambda p: torch.optim.Adam(p, 0.05, weight_decay=5e-2),
        2,
    ),
}


@pytest.fixture(scope="module")
def data() -> ImageData:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (40, 6, 6, 1), dtype=np.uint8), rng.integers(0, 3, 40)
    return ImageData(x, y, x, y, ("a", "b", "c"), (0.5,), (0.3,), "")


def network() -> nn.Module:
    """No bias before BatchNorm: its gradient is rounding alone, of which Adam would make full steps."""
    convolution = nn.Conv2d(1, 3, 3, bias=False)
    module = nn.Sequential(convolution, nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 3))
    initialise(module, torch.Generator().manual_seed(0))
    return module


def initial_row() -> Tensor:
    return BoundModel(network()).row()


def trainer(data: ImageData, **options: Any) -> LocalTrainer:
    """Two clients with 21 and 19 images; an epoch of the first is two batches of 8 and one of 5."""
    partition = Partition((np.arange(21), np.arange(21, 40)), (np.arange(5), np.arange(5)))
    settings = {"steps": 2, "batch_size": 8, "learning_rate": 0.05, "order": "whole_epochs"} | options
    return LocalTrainer(network(), data, partition, 0, CPU, **settings)


def torch_way(
    data: ImageData, optimiser: Callable[..., torch.optim.Optimizer], batches: int, clip: float = np.inf
) -> Tensor:
    """The first client's row after this many batches, trained by torch alone."""
    module = network()
    steps = optimiser(module.parameters())
    for batch in persistent(
        np.arange(21), batches, 8, 0, lambda epoch: generator(0, "order", 0, epoch), keep_rest=True
    ):
        pixels = torch.tensor((data.x_train[batch] / 255 - 0.5) / 0.3, dtype=torch.float32)
        steps.zero_grad()
        cross_entropy(module(pixels.permute(0, 3, 1, 2)), torch.tensor(data.y_train[batch])).backward()
        nn.utils.clip_grad_norm_(module.parameters(), clip)
        steps.step()
    return BoundModel(module).row()


def play(work: LocalTrainer, rounds: int, states: Tensor | None) -> Tensor:
    """The first client's row after some rounds."""
    row = initial_row()
    for done in range(rounds):
        kept = None if states is None else [states[0]]
        work.train([row], np.array([0]), done + 1, np.array([done]), kept)
    return row


def assert_same(row: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(row, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_step_equals_torchs(name: str) -> None:
    options, optimiser, size = SETTINGS[name]
    ours = TrainingOptions(steps=1, batch_size=1, learning_rate=0.05, **options).make_optimiser()
    assert ours.state_size == size
    rng = torch.Generator().manual_seed(0)
    row, state = torch.randn(500, generator=rng), torch.zeros(size, 500)
    parts = [part.clone().requires_grad_() for part in row.split([100, 250, 150])]
    theirs = optimiser(parts)
    for done in range(20):
        gradient = torch.randn(500, generator=rng)
        for part, of_part in zip(parts, gradient.split([100, 250, 150]), strict=True):
            part.grad = of_part.clone()
        theirs.step()
        ours.step([row], [gradient], [state], 0.05, [done])
        torch.testing.assert_close(row, torch.cat(parts).detach(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", SETTINGS)
def test_states_survive_rounds(data: ImageData, name: str) -> None:
    """Five rounds of 2 batches are 10 steps of one torch optimiser, BatchNorm's statistics included."""
    options, optimiser, size = SETTINGS[name]
    work = trainer(data, **options)
    states = work.optimiser_states(2)
    assert states.shape == (2, size, work.model.parameters)
    assert_same(play(work, 5, states), torch_way(data, optimiser, 10))
    assert not states[1].any()


def test_without_states_every_round_begins_anew(data: ImageData) -> None:
    work = trainer(data, optimiser="adam")
    anew, expected = play(work, 2, None), initial_row()
    for done in range(2):
        empty = [torch.zeros(2, work.model.parameters)]
        work.train([expected], np.array([0]), done + 1, np.array([done]), empty if done == 0 else None)
    assert torch.equal(anew, expected)
    assert not torch.allclose(anew, play(work, 2, work.optimiser_states(1)), atol=1e-3)


def test_a_clipped_gradient_decays_unclipped(data: ImageData) -> None:
    """The released code of the DFL-AA paper for CIFAR-10: clipping, then weight decay, then Nesterov's momentum."""
    released = {"momentum": 0.9, "nesterov": True, "weight_decay": 5e-2, "clip_norm": 0.3}
    work = trainer(data, **released)
    expected = torch_way(
        data, lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=5e-2), 6, clip=0.3
    )
    assert_same(play(work, 3, work.optimiser_states(1)), expected)


def test_epochs_are_as_many_batches_as_a_clients_images_make(data: ImageData) -> None:
    work = trainer(data, unit="epochs", optimiser="adam")
    assert_same(play(work, 2, work.optimiser_states(1)), torch_way(data, SETTINGS["adam"][1], 12))


def test_clients_may_be_in_different_rounds(data: ImageData) -> None:
    """One call for both clients, or one for each."""
    work = trainer(data, optimiser="adam", learning_rate=0.01, schedule="inverse_sqrt")
    rows, states = initial_row().repeat(2, 1), work.optimiser_states(2)
    single, kept = rows.clone(), states.clone()
    numbers, done = np.array([31, 2]), np.array([30, 1])
    work.train(list(rows), np.arange(2), numbers, done, list(states))
    for i in (1, 0):
        work.train([single[i]], np.array([i]), int(numbers[i]), done[[i]], [kept[i]])
    assert torch.equal(rows, single)
    assert torch.equal(states, kept)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimiser": "adm"}, "training.optimiser: .*did you mean 'adam'"),
        ({"optimiser": "adam", "momentum": 0.9}, "training.momentum: 0.9 .*adam"),
        ({"nesterov": True}, "training.nesterov: .*momentum"),
        ({"unit": "epochs", "order": "fresh"}, "training.unit: epochs .*fresh"),
        ({"unit": "epoch"}, "training.unit: .*did you mean 'epochs'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainingOptions(steps=1, batch_size=1, learning_rate=0.1, **options)
