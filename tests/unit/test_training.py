"""Local training: rows of the model matrix, batches, the trainer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from outagefl.datasets.arrays import ImageData
from outagefl.errors import ConfigError, TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.training import images, measuring
from outagefl.training.augmentation import draw_moves
from outagefl.training.batches import batches_per_epoch, fresh, persistent
from outagefl.training.devices import resolve
from outagefl.training.images import ImageLoader, on_device
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.parameters import BoundModel

CPU = torch.device("cpu")
CNN = {"kind": "cnn", "channels": [4], "hidden": [8]}
MEAN, STD = (0.4, 0.6), (0.2, 0.3)


@pytest.fixture(scope="module")
def data() -> ImageData:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (600, 8, 8, 2), dtype=np.uint8)
    y = rng.integers(0, 3, 600)
    return ImageData(x[:100], y[:100], x[100:], y[100:], ("a", "b", "c"), MEAN, STD, "")


@pytest.fixture
def partition() -> Partition:
    """Three clients with 50, 45 and 5 training images and 300, 2 and 198 test images."""
    return Partition(tuple(np.split(np.arange(100), [50, 95])), tuple(np.split(np.arange(500), [300, 302])))


def trainer(data: ImageData, partition: Partition, **training: Any) -> LocalTrainer:
    settings = {"steps": 3, "batch_size": 16, "learning_rate": 0.1} | training
    return LocalTrainer(initial_model(CNN, (8, 8, 2), 3, seed=0), data, partition, 0, CPU, **settings)


def train(work: LocalTrainer, models: torch.Tensor, clients: list[int], round_number: int, done: int = 0) -> None:
    """Train clients in place on their rows of ``models``; each has trained in ``done`` rounds before."""
    chosen = np.array(clients, dtype=int)
    work.train([models[i] for i in clients], chosen, round_number, np.full_like(chosen, done))


def normalised(x: np.ndarray) -> torch.Tensor:
    scaled = (x / 255 - np.array(MEAN)) / np.array(STD)
    return torch.tensor(scaled, dtype=torch.float32).permute(0, 3, 1, 2).contiguous()


def with_batch_norm() -> nn.Module:
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))


def test_what_a_gpu_keeps_is_what_a_cpu_reads(data: ImageData) -> None:
    """Played on the CPU: a loader that keeps the arrays makes the same images, of one copy that all loaders share."""
    reads, keeps, shares = (ImageLoader(data, CPU) for _ in range(3))
    keeps._keeps = shares._keeps = True
    x, y = data.x_train.copy(), data.y_train.copy()
    chosen, pairs = np.array([7, 3, 3, 99]), np.array([[7, 3], [3, 99]])
    moves = draw_moves([1] * 4, np.random.default_rng(0), flip=True)
    for load in (keeps, shares):
        assert torch.equal(load.plain(x, chosen), reads.plain(data.x_train, chosen))
        assert torch.equal(load.labels(y, chosen), reads.labels(data.y_train, chosen))
        assert torch.equal(load.plain(x, pairs).flatten(0, 1), reads.plain(data.x_train, chosen))
        for augmentation in ("image", "batch"):
            found = load.augmented(x, chosen, augmentation, moves)
            assert torch.equal(found, reads.augmented(data.x_train, chosen, augmentation, moves))
            assert found.is_contiguous(memory_format=torch.channels_last)
    assert on_device(x, CPU) is on_device(x, CPU)
    assert {key for key, _ in images._copies} == {id(x), id(y)}
    del x
    assert {key for key, _ in images._copies} == {id(y)}


def test_a_row_holds_parameters_then_running_statistics() -> None:
    module = with_batch_norm()
    row = BoundModel(module).row()
    expected = torch.cat([t.flatten() for t in [*module.parameters(), module[1].running_mean, module[1].running_var]])
    assert torch.equal(row, expected.detach())


def test_a_network_works_in_place_on_the_row_it_is_bound_to() -> None:
    """Two SGD steps with BatchNorm on row 1 equal torch's optimiser on a network of its own; row 0 stays."""
    torch_way, model = with_batch_norm(), BoundModel(with_batch_norm())
    start = BoundModel(torch_way).row()
    models = start.repeat(2, 1)
    model.bind(models[0])
    model.bind(models[1])
    optimizer = torch.optim.SGD(torch_way.parameters(), lr=0.1)
    images = torch.randn(2, 16, 2, 8, 8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(16) % 3
    for batch in images:
        optimizer.zero_grad()
        cross_entropy(torch_way(batch), labels).backward()
        optimizer.step()
        cross_entropy(model.module(batch), labels).backward()
        model.trained.sub_(0.1 * model.gradient())
        model.gradient().zero_()
    torch.testing.assert_close(models[1], BoundModel(torch_way).row())
    assert torch.equal(models[0], start)
    assert not torch.equal(models[1, -8:], start[-8:])


def test_rows_of_another_network_are_refused() -> None:
    model = BoundModel(with_batch_norm())
    with pytest.raises(RuntimeError):
        model.bind(torch.zeros(len(model.row()) + 1))


@given(
    n=st.integers(1, 40),
    steps=st.integers(1, 8),
    batch_size=st.integers(1, 50),
)
def test_batches_are_full_and_use_every_image_before_any_again(n: int, steps: int, batch_size: int) -> None:
    own = np.arange(100, 100 + n)
    chosen = fresh(own, steps, batch_size, np.random.default_rng(0))
    assert chosen.shape == (steps, min(batch_size, n))
    counts = Counter(chosen.ravel().tolist())
    assert set(counts) <= set(own.tolist())
    assert max(counts.values()) - min(counts[image] for image in own.tolist()) <= 1


@pytest.mark.parametrize(("n", "batch_size", "per_epoch"), [(10, 3, 3), (9, 3, 3), (4, 3, 1), (2, 3, 1)])
def test_persistent_batches_restart_the_order_where_no_full_batch_is_left(
    n: int, batch_size: int, per_epoch: int
) -> None:
    """7 steps from the start; a client with fewer images than a batch uses all of them in each step."""
    own, size = np.arange(100, 100 + n), min(n, batch_size)
    chosen = np.stack(persistent(own, 7, batch_size, 0, np.random.default_rng))
    assert chosen.shape == (7, size)
    for epoch in range(-(-7 // per_epoch)):
        expected = np.random.default_rng(epoch).permutation(own)[: per_epoch * size].reshape(-1, size)
        found = chosen[epoch * per_epoch : (epoch + 1) * per_epoch]
        assert (found == expected[: len(found)]).all()


@pytest.mark.parametrize("keep_rest", [False, True])
@given(n=st.integers(1, 20), batch_size=st.integers(1, 6), steps=st.integers(1, 5), rounds=st.integers(1, 5))
def test_persistent_batches_do_not_depend_on_where_rounds_end(
    keep_rest: bool, n: int, batch_size: int, steps: int, rounds: int
) -> None:
    def after(done: int, count: int) -> list[np.ndarray]:
        return persistent(np.arange(n), count, batch_size, done, np.random.default_rng, keep_rest=keep_rest)

    by_round = [batch.tolist() for number in range(rounds) for batch in after(number * steps, steps)]
    assert by_round == [batch.tolist() for batch in after(0, rounds * steps)]


@given(n=st.integers(1, 30), batch_size=st.integers(1, 8))
def test_what_is_left_over_of_an_epoch_makes_a_smaller_batch(n: int, batch_size: int) -> None:
    """Two epochs as a data loader of torch gives them, every image once in each."""
    count = batches_per_epoch(n, batch_size, keep_rest=True)
    chosen = persistent(np.arange(n), 2 * count, batch_size, 0, np.random.default_rng, keep_rest=True)
    loaded = [len(batch) for batch in DataLoader(range(n), batch_size)]
    assert [len(batch) for batch in chosen] == 2 * loaded
    for epoch in (chosen[:count], chosen[count:]):
        assert sorted(np.concatenate(epoch)) == list(range(n))


def test_batches_change_from_round_to_round_and_client_to_client() -> None:
    own = np.arange(1000)
    first, again, later, other = (
        fresh(own, 2, 50, generator(0, "batches", client, round_number))
        for client, round_number in [(1, 1), (1, 1), (1, 2), (2, 1)]
    )
    assert (first == again).all()
    assert (first != later).any()
    assert (first != other).any()


def sgd(data: ImageData, chosen: np.ndarray, learning_rate: float = 0.1, clip: float = np.inf) -> torch.Tensor:
    """The row that torch's optimiser makes of the initial model on the batches ``chosen`` (steps, b)."""
    reference = initial_model(CNN, (8, 8, 2), 3, seed=0)
    optimizer = torch.optim.SGD(reference.parameters(), lr=learning_rate)
    for batch in chosen:
        optimizer.zero_grad()
        cross_entropy(reference(normalised(data.x_train[batch])), torch.tensor(data.y_train[batch])).backward()
        nn.utils.clip_grad_norm_(reference.parameters(), clip)
        optimizer.step()
    return BoundModel(reference).row()


def fresh_batches(partition: Partition, client: int, round_number: int) -> np.ndarray:
    return fresh(partition.train[client], 3, 16, generator(0, "batches", client, round_number))


def assert_same(row: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(row, expected, rtol=1e-4, atol=1e-6)


def test_training_equals_plain_torch(data: ImageData, partition: Partition) -> None:
    work = trainer(data, partition)
    models = work.model.row().repeat(3, 1)
    train(work, models, [0, 2], 4)
    for client in (0, 2):
        assert_same(models[client], sgd(data, fresh_batches(partition, client, 4)))
    assert torch.equal(models[1], initial_row())


def test_the_learning_rate_falls_with_the_root_of_the_rounds(data: ImageData, partition: Partition) -> None:
    """η0 in round 1, where the paper's t is 0; half of it in round 31."""
    for round_number, learning_rate in ((1, 0.1), (31, 0.05)):
        models = initial_row().repeat(3, 1)
        train(trainer(data, partition, schedule="inverse_sqrt"), models, [0], round_number)
        assert_same(models[0], sgd(data, fresh_batches(partition, 0, round_number), learning_rate))


def test_the_gradient_of_each_step_is_clipped(data: ImageData, partition: Partition) -> None:
    models = initial_row().repeat(3, 1)
    train(trainer(data, partition, clip_norm=0.5), models, [0], 1)
    assert_same(models[0], sgd(data, fresh_batches(partition, 0, 1), clip=0.5))
    assert (models[0] - initial_row()).norm() < 3 * 0.1 * 0.5
    assert (sgd(data, fresh_batches(partition, 0, 1)) - initial_row()).norm() > 3 * 0.1 * 0.5


def test_a_norm_that_is_never_reached_changes_nothing(data: ImageData, partition: Partition) -> None:
    clipped, free = initial_row().repeat(3, 1), initial_row().repeat(3, 1)
    train(trainer(data, partition, clip_norm=1e6), clipped, [0], 1)
    train(trainer(data, partition), free, [0], 1)
    assert_same(clipped, free)


def test_a_clients_persistent_order_goes_on_where_its_last_round_ended(data: ImageData, partition: Partition) -> None:
    """45 images are 2 batches of 16 an epoch, so a second round of 3 steps begins amid the second epoch."""
    models = initial_row().repeat(3, 1)
    train(trainer(data, partition, order="persistent"), models, [1], round_number=7, done=1)
    second, third = (generator(0, "order", 1, epoch).permutation(partition.train[1]) for epoch in (1, 2))
    assert_same(models[1], sgd(data, np.stack([second[16:32], third[:16], third[16:32]])))


@pytest.mark.parametrize("augmentation", ["image", "batch"])
def test_augmented_images_are_trained_on(data: ImageData, partition: Partition, augmentation: str) -> None:
    models = initial_row().repeat(3, 1)
    train(trainer(data, partition, augmentation=augmentation, steps=1), models, [2], 4)
    chosen = fresh_batches(partition, 2, 4)[:1]
    reference = initial_model(CNN, (8, 8, 2), 3, seed=0)
    groups = [1] * chosen.size if augmentation == "image" else [chosen.size]
    moves = draw_moves(groups, generator(0, "augmentation", 2, 4), flip=True)
    images = ImageLoader(data, CPU).augmented(data.x_train, chosen[0], augmentation, moves)
    cross_entropy(reference(images), torch.tensor(data.y_train[chosen[0]])).backward()
    row = torch.cat([(p - 0.1 * p.grad).detach().flatten() for p in reference.parameters()])
    assert_same(models[2], row)
    assert not torch.allclose(models[2], sgd(data, chosen), rtol=1e-4, atol=1e-6)


def dropping_trainer(data: ImageData, partition: Partition, steps: int = 3) -> LocalTrainer:
    module = initial_model(CNN | {"dropout": 0.5}, (8, 8, 2), 3, seed=0)
    return LocalTrainer(module, data, partition, 0, CPU, steps=steps, batch_size=16, learning_rate=0.1)


def test_dropout_drops_in_training_alone(data: ImageData) -> None:
    """The first linear layer, 8×64, learns nothing from an input that is dropped in the one step with one image."""
    one = Partition((np.arange(1),), (np.arange(500),))
    dropping, plain = dropping_trainer(data, one, steps=1), trainer(data, one, steps=1)
    models = initial_row().repeat(2, 1)
    train(dropping, models[:1], [0], 1)
    train(plain, models[1:], [0], 1)
    head, layer = 3 * 8 + 3, 8 * 64 + 8
    kept, used = (models != initial_row())[:, -head - layer : -head - 8].view(2, 8, 64).any(dim=1)
    assert (used | ~kept).all()
    assert 0.3 < kept.sum() / used.sum() < 0.7
    client = np.array([0])
    assert (dropping.evaluate(models, client, 1) == plain.evaluate(models, client, 1)).all()


def test_dropout_belongs_to_client_and_round(data: ImageData, partition: Partition) -> None:
    """Not to who else trains, nor to the state of the global generator, which is left as it was."""
    alone, together = initial_row().repeat(3, 1), initial_row().repeat(3, 1)
    train(dropping_trainer(data, partition), alone, [1], 1)
    torch.rand(1)
    before = torch.get_rng_state()
    train(dropping_trainer(data, partition), together, [2, 0, 1], 1)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(alone[1], together[1])


def test_dropout_differs_between_clients_and_rounds(data: ImageData) -> None:
    """Two clients hold the same one image and therefore train on the same batches in all rounds."""
    same = Partition((np.arange(1), np.arange(1)), (np.arange(5), np.arange(5)))
    models = initial_row().repeat(3, 1)
    train(dropping_trainer(data, same), models[:2], [0, 1], 1)
    train(dropping_trainer(data, same), models[2:], [0], 2)
    for one, other in ((0, 1), (0, 2)):
        assert not torch.allclose(models[one], models[other], atol=1e-4)


@pytest.mark.parametrize("option", [{"augmentation": "image"}, {"augmentation": "batch"}, {"order": "persistent"}])
def test_options_do_not_make_clients_depend_on_each_other(
    data: ImageData, partition: Partition, option: dict[str, str]
) -> None:
    alone, together = initial_row().repeat(3, 1), initial_row().repeat(3, 1)
    train(trainer(data, partition, **option), alone, [1], 1)
    train(trainer(data, partition, **option), together, [2, 0, 1], 1)
    assert torch.equal(alone[1], together[1])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"augmentation": "images"}, "training.augmentation: .*did you mean 'image'"),
        ({"schedule": "inverse_sqr"}, "training.schedule: .*did you mean 'inverse_sqrt'"),
        ({"order": "lasting"}, "training.order: .*fresh, persistent"),
    ],
)
def test_unknown_options_are_refused(
    data: ImageData, partition: Partition, option: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        trainer(data, partition, **option)


def initial_row() -> torch.Tensor:
    return BoundModel(initial_model(CNN, (8, 8, 2), 3, seed=0)).row()


def test_what_a_client_learns_does_not_depend_on_who_else_trains(data: ImageData, partition: Partition) -> None:
    alone, together = initial_row().repeat(3, 1), initial_row().repeat(3, 1)
    train(trainer(data, partition), alone, [1], 1)
    train(trainer(data, partition), together, [2, 0, 1], 1)
    assert torch.equal(alone[1], together[1])
    assert torch.equal(alone[0], initial_row())
    assert not torch.equal(together[0], initial_row())


def test_training_lowers_the_loss_on_what_was_trained(data: ImageData) -> None:
    same = Partition((np.arange(20),), (np.arange(20),))
    seen = ImageData(data.x_train, data.y_train, data.x_train, data.y_train, data.classes, MEAN, STD, "")
    work = trainer(seen, same, steps=60, learning_rate=0.05)
    models = initial_row().repeat(1, 1)
    before = work.evaluate(models, np.array([0]), 0)
    train(work, models, [0], 1)
    after = work.evaluate(models, np.array([0]), 1)
    assert after[1, 0] < 0.5 * before[1, 0]
    assert after[0, 0] > before[0, 0]


@pytest.mark.parametrize("at_once", [1, 7, 1024])
def test_evaluation_equals_one_pass_over_all_test_images(
    data: ImageData, partition: Partition, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "MOST", at_once)
    accuracy, loss = trainer(data, partition).evaluate(initial_row().repeat(3, 1), np.array([2, 0]), 1)
    reference = initial_model(CNN, (8, 8, 2), 3, seed=0)
    for place, client in enumerate([2, 0]):
        own = partition.test[client]
        logits, labels = reference(normalised(data.x_test[own])), torch.tensor(data.y_test[own])
        assert accuracy[place] == pytest.approx((logits.argmax(dim=1) == labels).double().mean().item())
        assert loss[place] == pytest.approx(cross_entropy(logits, labels).item(), rel=1e-5)


def test_a_network_with_wider_layers_is_measured_on_fewer_images_at_once() -> None:
    image = torch.zeros(1, 3, 16, 16)
    narrow, wide = (nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.Dropout(0.5)).train() for width in (32, 64))
    assert measuring.images_at_once(narrow, image) == measuring.IN_CACHE // (32 * 16 * 16)
    assert measuring.images_at_once(wide, image) == measuring.IN_CACHE // (64 * 16 * 16)
    assert measuring.images_at_once(nn.Flatten(), image) == measuring.MOST
    assert wide.training
    assert not wide[0]._forward_hooks


def test_any_model_can_be_measured_on_any_images(data: ImageData, partition: Partition) -> None:
    work, row = trainer(data, partition), initial_row()
    images = np.array([3, 5, 8])
    logits = initial_model(CNN, (8, 8, 2), 3, seed=0)(normalised(data.x_train))
    for chosen, expected in ((None, np.arange(100)), (images, images)):
        accuracy, loss = work.measure(row, data.x_train, data.y_train, chosen).tolist()
        labels = torch.tensor(data.y_train[expected])
        assert accuracy == pytest.approx((logits[expected].argmax(dim=1) == labels).double().mean().item())
        assert loss == pytest.approx(cross_entropy(logits[expected], labels).item(), rel=1e-5)


def test_many_models_are_measured_as_one_after_the_other(data: ImageData, partition: Partition) -> None:
    work = LocalTrainer(with_batch_norm(), data, partition, 0, CPU, steps=1, batch_size=8, learning_rate=0.1)
    rows = work.model.row().repeat(3, 1)
    train(work, rows, [0, 1, 2], 1)
    for chosen in (None, np.arange(0, 500, 3)):
        found = work.measure_many(list(rows), data.x_test, data.y_test, chosen)
        assert torch.equal(found, torch.stack([work.measure(row, data.x_test, data.y_test, chosen) for row in rows]))
        assert len(found.unique(dim=0)) == 3
    assert work.measure_many([], data.x_test, data.y_test).shape == (0, 2)


def test_running_statistics_are_used_not_changed_by_evaluation(data: ImageData, partition: Partition) -> None:
    work = LocalTrainer(with_batch_norm(), data, partition, 0, CPU, steps=1, batch_size=8, learning_rate=0.1)
    models = work.model.row().repeat(3, 1)
    train(work, models, [0, 1, 2], 1)
    trained = models.clone()
    work.evaluate(models, np.arange(3), 1)
    assert torch.equal(models, trained)


def test_nobody_online_is_no_work(data: ImageData, partition: Partition) -> None:
    models = initial_row().repeat(3, 1)
    train(trainer(data, partition), models, [], 1)
    assert trainer(data, partition).evaluate(models, np.array([], dtype=int), 1).shape == (2, 0)
    assert torch.equal(models, initial_row().repeat(3, 1))


def test_diverging_training_names_client_round_and_learning_rate(data: ImageData, partition: Partition) -> None:
    work = trainer(data, partition, learning_rate=1e30)
    with pytest.raises(TrainingError, match=r"client 1: .*training in round 7 .*learning_rate 1e\+30"):
        train(work, initial_row().repeat(3, 1), [1, 2], 7)


def test_a_broken_model_is_named_at_its_evaluation(data: ImageData, partition: Partition) -> None:
    models = initial_row().repeat(3, 1)
    models[2] = torch.nan
    with pytest.raises(TrainingError, match=r"client 2: .*evaluation after round 5"):
        trainer(data, partition).evaluate(models, np.arange(3), 5)


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve("auto") == resolve("cpu") == CPU
    with pytest.raises(ConfigError, match="no CUDA GPU"):
        resolve("cuda")
    with pytest.raises(ConfigError, match="did you mean 'cuda'"):
        resolve("cud")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve("auto") == resolve("cuda") == torch.device("cuda")
    assert resolve("cpu") == CPU
