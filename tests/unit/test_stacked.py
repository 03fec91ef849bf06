"""Training clients as one stack gives what training them one after the other does, up to rounding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from outagefl.datasets.arrays import ImageData
from outagefl.errors import TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.training import convolutions, stacked, stacked_network
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import StackedTrainer, trainer_class
from outagefl.training.stacked_network import StackedNetwork

SIZES = (20, 40, 17, 40, 20, 3)  # training images of each client
CLIENTS = len(SIZES)
MLP = {"kind": "mlp", "hidden": [8, 6], "dropout": 0.3}
CNN = {"kind": "cnn", "channels": [3], "hidden": [6], "dropout": 0.3}  # drops twice
RESIDUAL = {"kind": "residual_cnn", "channels": [4, 4], "hidden": [6]}
RESNET = {"kind": "resnet18"}
CPU, CUDA = torch.device("cpu"), torch.device("cuda")
WAYS = {  # the ways of both devices, played on the CPU
    "cpu": stacked.WAYS["cpu"],
    "cuda": stacked.WAYS["cuda"],
    "cuda_grouped": replace(stacked.WAYS["cuda"], convolution="grouped"),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> stacked.Way:
    monkeypatch.setitem(stacked.WAYS, "cpu", WAYS[request.param])
    return WAYS[request.param]


@pytest.fixture(scope="module")
def data() -> ImageData:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (sum(SIZES), 8, 8, 2), dtype=np.uint8), rng.integers(0, 3, sum(SIZES))
    return ImageData(x, y, x, y, ("a", "b", "c"), (0.5, 0.4), (0.3, 0.2), "")


def make(kind: type[LocalTrainer], data: ImageData, model: dict[str, Any], **options: Any) -> Any:
    parts = tuple(np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1]))
    settings = {"steps": 3, "batch_size": 8, "learning_rate": 0.01, "order": "whole_epochs"} | options
    module = initial_model(model, data.x_train.shape[1:], 3, 0)
    return kind(module, data, Partition(parts, parts), 0, CPU, **settings)


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
    data: ImageData, model: dict[str, Any], options: dict[str, Any], way: stacked.Way
) -> None:
    """Batches of several sizes, clients in different rounds, dropout, running statistics."""
    calls = [[0, 1, 2, 3, 4, 5], [1, 4], [3, 5, 1, 0]]
    rows, states = play(make(StackedTrainer, data, model, **options), calls)
    expected, expected_states = play(make(LocalTrainer, data, model, **options), calls)
    torch.testing.assert_close(rows, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(states, expected_states, rtol=1e-3, atol=1e-5)
    assert len(rows.unique(dim=0)) == CLIENTS


def test_a_stack_of_large_networks_learns_what_they_learn_alone(way: stacked.Way) -> None:
    """ResNet-18: strided convolutions and such of one pixel, two batches of two images."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (4, 9, 9, 3), dtype=np.uint8), np.arange(4) % 3
    data = ImageData(x, y, x, y, ("a", "b", "c"), (0.5,) * 3, (0.3,) * 3, "")
    parts, clients = (np.array([0, 1]), np.array([2, 3])), np.arange(2)
    found = []
    for kind in (StackedTrainer, LocalTrainer):
        module = initial_model(RESNET, (9, 9, 3), 3, 0)
        work = kind(module, data, Partition(parts, parts), 0, CPU, steps=2, batch_size=2, learning_rate=1e-3)
        rows = work.model.row().repeat(2, 1)
        work.train(list(rows), clients, 1, np.zeros(2, dtype=int))
        found.append((rows, torch.from_numpy(work.evaluate(rows, clients, 1))))
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("model", [MLP, CNN, RESIDUAL], ids=lambda model: model["kind"])
def test_a_stack_is_measured_as_its_models_are_alone(
    data: ImageData, model: dict[str, Any], way: stacked.Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On images of all, of some, and of each client's own, of which there are unequally many; more than one batch."""
    monkeypatch.setattr(stacked_network, "MEASURED", 6 * 16)
    work, single = make(StackedTrainer, data, model), make(LocalTrainer, data, model)
    rows, _ = play(work, [[0, 1, 2, 3, 4, 5]])
    some = np.arange(3, 90)
    for chosen in (None, some):
        found = work.measure_many(list(rows), data.x_test, data.y_test, chosen)
        expected = single.measure_many(list(rows), data.x_test, data.y_test, chosen)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    clients = np.array([5, 0, 2])
    np.testing.assert_allclose(work.evaluate(rows, clients, 1), single.evaluate(rows, clients, 1), rtol=1e-5)
    assert work.evaluate(rows, clients[:0], 1).shape == (2, 0)


@pytest.mark.parametrize("asked", [5, 2, 1])
def test_a_stack_that_does_not_fit_into_memory_is_halved(
    data: ImageData, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU with memory for ``asked`` models at once; what it had begun leaves no trace."""
    monkeypatch.setitem(stacked.WAYS, "cpu", WAYS["cuda"])
    tried: list[int] = []
    step = StackedNetwork.gradients

    def short_of_memory(self: StackedNetwork, parameters: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
        found = step(self, parameters, *others)
        tried.append(len(parameters))
        if len(parameters) > asked:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return found

    alike = {"batch_size": 3, "steps": 1, "order": "fresh"}
    expected, _ = play(make(LocalTrainer, data, RESIDUAL, **alike), [[0, 1, 2, 3, 4, 5], [0, 1]])
    monkeypatch.setattr(StackedNetwork, "gradients", short_of_memory)
    rows, _ = play(make(StackedTrainer, data, RESIDUAL, **alike), [[0, 1, 2, 3, 4, 5], [0, 1]])
    torch.testing.assert_close(rows, expected, rtol=1e-4, atol=1e-5)
    assert tried == {5: [6, 3, 3, 2], 2: [6, 3, 2, 2, 2, 2], 1: [6, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1]}[asked]


def test_a_model_too_large_for_the_memory_is_an_error(data: ImageData, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(StackedNetwork, "gradients", without_memory)
    with pytest.raises(torch.OutOfMemoryError):
        play(make(StackedTrainer, data, MLP), [[0, 1]])


def test_an_optimiser_takes_models_at_the_same_step_as_one_tensor(
    data: ImageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(stacked.WAYS, "cpu", WAYS["cuda"])
    work = make(StackedTrainer, data, MLP, optimiser="adam", steps=1, order="fresh", batch_size=3)
    taken: list[tuple[list[int], list[int]]] = []
    step = type(work._optimiser).step

    def watched(self: Any, parameters: Any, gradients: Any, states: Any, rate: float, done: list[int]) -> None:
        taken.append(([len(each) for each in parameters], done))
        step(self, parameters, gradients, states, rate, done)

    monkeypatch.setattr(type(work._optimiser), "step", watched)
    play(work, [[0, 1, 2], [0, 1, 2, 3, 4, 5]])
    assert taken == [([3], [0]), ([3, 3], [1, 0])]


@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "padding", "bias"),
    [
        ((2, 3, 8, 7), 3, (1, 1), (1, 1), True),
        ((1, 2, 9, 9), 3, (2, 2), (1, 0), False),
        ((3, 4, 5, 5), 1, (2, 1), (0, 0), True),
    ],
)
def test_an_unfolded_convolution_is_torchs_and_so_are_its_gradients(
    shape: Any, kernel: int, stride: Any, padding: Any, bias: bool
) -> None:
    draw = torch.Generator().manual_seed(0)
    images, kernels, offset = (
        torch.randn(size, generator=draw, dtype=torch.float64, requires_grad=True)
        for size in (shape, (5, shape[1], kernel, kernel), (5,))
    )
    given = [images, kernels, *([offset] if bias else [])]
    results = []
    for convolution in (convolutions.unfolded, torch.nn.functional.conv2d):
        found = convolution(images, kernels, offset if bias else None, stride, padding)
        results.append((found, *torch.autograd.grad(found.square().sum(), given)))
    torch.testing.assert_close(results[0], results[1])


def test_convolutions_that_cannot_be_unfolded_are_refused() -> None:
    with convolutions.convolving("unfolded"), pytest.raises(ValueError, match="2 groups cannot be unfolded"):
        torch.nn.Conv2d(2, 2, 3, groups=2)(torch.zeros(1, 2, 5, 5))


def test_clients_with_batches_of_equal_sizes_train_together(data: ImageData, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    once = StackedTrainer._train_stack

    def watched(self: StackedTrainer, tasks: Any) -> Tensor:
        seen.append([task.work.client for task in tasks])
        return once(self, tasks)

    monkeypatch.setattr(StackedTrainer, "_train_stack", watched)
    monkeypatch.setitem(stacked.WAYS, "cpu", replace(WAYS["cpu"], models=2))
    play(make(StackedTrainer, data, MLP), [[5, 4, 3, 2, 1, 0]])
    assert seen == [[5], [4, 0], [3, 1], [2]]


def test_a_gpu_stacks_all_networks_and_a_cpu_small_ones_where_asked_to() -> None:
    small, large = (initial_model({"kind": "mlp", "hidden": [n, n]}, (8, 8, 2), 3, 0) for n in (32, 256))
    assert {trainer_class(module, CUDA, small=asked) for module in (small, large) for asked in (True, False)} == {
        StackedTrainer
    }
    assert [trainer_class(module, CPU, small=True) for module in (small, large)] == [StackedTrainer, LocalTrainer]
    assert trainer_class(small, CPU) is LocalTrainer


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
