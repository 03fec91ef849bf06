"""Runs that share a device: who waits for whom, and that each run gets what it would get alone."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor

from outagefl.datasets.arrays import ImageData
from outagefl.engines import events, gossip, server
from outagefl.errors import TrainingError
from outagefl.inputs.partitions import Partition
from outagefl.training import stacked
from outagefl.training.pack import TRAINING, Pack, together
from outagefl.training.stacked import StackedTrainer

Batch = list[tuple[str, list[str]]]


def do(done: Batch, key: str) -> Callable[[Sequence[str]], Tensor]:
    """Notes what is asked for; the result for an item is its length."""

    def note(items: Sequence[str]) -> Tensor:
        done.append((key, list(items)))
        return torch.tensor([[float(len(item))] for item in items])

    return note


def asks(done: Batch, name: str, keys: str, seconds: float = 0) -> None:
    """A run that asks for training (t) or to be measured (m), with two items each time."""
    for number, key in enumerate(keys):
        time.sleep(seconds * random.Random(f"{name}{number}").random())
        items = [f"{name}{number}", name * 3]
        found = together(TRAINING if key == "t" else key, items, do(done, key))
        assert found.flatten().tolist() == [len(item) for item in items]


@pytest.mark.parametrize("seconds", [0, 0.02])
def test_runs_train_together_in_their_order_whatever_the_time_they_take(seconds: float) -> None:
    """The first is measured once more than the others, which wait for it: evaluations come before training."""
    done: Batch = []
    runs = [partial(asks, done, *run, seconds) for run in (("a", "tmmt"), ("b", "tmt"), ("c", "t"))]
    assert Pack(3).play(runs) == [None] * 3
    assert done == [
        ("t", ["a0", "aaa", "b0", "bbb", "c0", "ccc"]),
        ("m", ["a1", "aaa", "b1", "bbb"]),
        ("m", ["a2", "aaa"]),
        ("t", ["a3", "aaa", "b2", "bbb"]),
    ]


def test_alone_nobody_is_waited_for() -> None:
    done: Batch = []
    asks(done, "a", "tm")
    assert [key for key, _ in done] == ["t", "m"]


def test_one_thread_is_awake_at_a_time() -> None:
    awake: set[int] = set()

    def run() -> None:
        for _ in range(3):
            awake.add(threading.get_ident())
            time.sleep(0.01)
            assert awake == {threading.get_ident()}
            awake.clear()
            together(TRAINING, ["x"], do([], "t"))

    assert Pack(4).play([run] * 4) == [None] * 4


def test_a_run_that_fails_leaves_the_others_to_go_on() -> None:
    done: Batch = []

    def fails() -> None:
        asks(done, "a", "t")
        raise ValueError("of a")

    found = Pack(3).play([partial(asks, done, "b", "ttt"), fails, partial(asks, done, "c", "tt")])
    assert [found[0], found[2]] == [None, None]
    assert str(found[1]) == "of a"
    assert [len(items) for _, items in done] == [6, 4, 2]


def test_what_fails_for_all_is_an_error_of_each() -> None:
    def broken(items: Sequence[str]) -> Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    found = Pack(2).play([partial(together, TRAINING, ["x"], broken), partial(together, TRAINING, [], broken)])
    assert [str(error) for error in found] == ["CUDA out of memory"] * 2


def test_an_interrupt_of_the_waiting_thread_stops_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    joined, rounds = threading.Thread.join, [0, 0]

    def interrupted(thread: threading.Thread, *limit: float) -> None:
        monkeypatch.setattr(threading.Thread, "join", joined)
        time.sleep(0.05)
        raise KeyboardInterrupt

    def for_ever(number: int) -> None:
        while True:
            rounds[number] += 1
            together(TRAINING, [], lambda _: torch.zeros(0))

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        Pack(2).play([partial(for_ever, 0), partial(for_ever, 1)])
    assert threading.active_count() == before
    assert all(rounds)


CLIENTS, ROUNDS = 5, 5
DIVERGES = 9  # the seed of a run that does
SHAPE = (8, 8, 2)
CNN = {"kind": "cnn", "channels": [4], "hidden": [6], "dropout": 0.2}
MLP = {"kind": "mlp", "hidden": [12], "dropout": 0.2}


@pytest.fixture
def data() -> ImageData:
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 3, count) for count in (120, 60)]
    images = [(rng.integers(0, 90, (len(y), *SHAPE)) + 60 * y[:, None, None, None]).astype(np.uint8) for y in labels]
    return ImageData(images[0], labels[0], images[1], labels[1], ("a", "b", "c"), (0.4, 0.4), (0.3, 0.3), "")


def common(seed: int, **changes: Any) -> dict[str, Any]:
    rate = 1e30 if seed == DIVERGES else 0.02 * (1 + seed)
    training = {"steps": 2, "batch_size": 8, "learning_rate": rate, "schedule": "inverse_sqrt"}
    return {"seed": seed, "clients": CLIENTS, "rounds": ROUNDS, "model": CNN, "training": training} | changes


def parts(seed: int) -> Partition:
    """Clients of unequal sizes, other ones for each seed."""
    places = np.random.default_rng(seed).permutation(120)
    return Partition(tuple(np.split(places, [5, 30, 60, 80])), tuple(np.split(np.arange(60), [4, 20, 30, 45])))


def online(seed: int, rounds: int) -> Any:
    return np.random.default_rng(seed).random((rounds, CLIENTS)) < 0.6


def gossip_run(data: ImageData, seed: int) -> pd.DataFrame:
    """Seed 1 plays fewer rounds."""
    rounds = ROUNDS - 2 * (seed == 1)
    rule = {"kind": "sfg_cut", "gamma": 0.5, "margin": 1}
    spec = common(seed, rounds=rounds, order="train_then_mix", returning="trains_and_mixes", rule=rule)
    spec["evaluation"] = {"every": 2}
    ring = np.array([[i, (i + 1) % CLIENTS] for i in range(CLIENTS)])
    return gossip.run(spec, data, parts(seed), ring, online(seed, rounds), lambda *_: None, "cpu")


def server_run(data: ImageData, seed: int) -> pd.DataFrame:
    """Seed 1 measures a model more in every second round."""
    rule = {"kind": "gfedavg", "period": 2, "amplification": 2} if seed == 1 else {"kind": "mifa"}
    spec = common(seed, server_learning_rate=1.0, head_init="kaiming", evaluated="global", rule=rule)
    spec["evaluation"] = {"every": 2, "last": 0, "train_images": 30}
    return server.run(spec, data, parts(seed), online(seed, ROUNDS), lambda *_: None, "cpu")


def events_run(data: ImageData, seed: int) -> pd.DataFrame:
    rule = {"kind": "dflaa", "tau": 5, "beta": 0.05, "c_min": 0.1, "q_floor": 0.05, "update_on": "reception"}
    spec = common(seed, model=MLP, horizon=4.0 - seed % 3, init="pytorch", exchange="all", rule=rule)
    spec |= {"channel": {"kind": "bernoulli"}, "chunk": 16, "fill_at": "aggregation"}
    spec |= {"evaluation": {"every": 1, "clock": "seconds"}}
    spec["training"] |= {"momentum": 0.9, "order": "whole_epochs"}
    ring = np.array([[i, (i + 1) % CLIENTS] for i in range(CLIENTS)])
    speeds = np.array([0.5, 1.0, 2.0, 0.5, 1.0])
    return events.run(spec, data, parts(seed), ring, np.full(CLIENTS, 0.3), speeds, lambda *_: None, "cpu")


@pytest.fixture(params=[gossip_run, server_run, events_run], ids=["gossip", "server", "events"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run of an engine that works on the CPU as it would on a GPU."""
    torch.set_num_threads(1)
    monkeypatch.setitem(stacked.WAYS, "cpu", stacked.WAYS["cuda"])
    for module in (gossip, server, events):
        monkeypatch.setattr(module, "trainer_class", lambda *_, **__: StackedTrainer)
    return request.param


def test_packed_runs_find_what_they_find_alone(engine: Any, data: ImageData, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three seeds, two of them of unequal length, with their own partitions, outages and step sizes."""
    alone = [engine(data, seed) for seed in range(3)]
    packed: list[pd.DataFrame] = [None] * 3  # type: ignore[list-item]
    sizes: list[int] = []
    once = StackedTrainer._train_tasks

    def watched(self: StackedTrainer, tasks: Any) -> Tensor:
        sizes.append(len(tasks))
        return once(self, tasks)

    def play(seed: int) -> None:
        packed[seed] = engine(data, seed)

    monkeypatch.setattr(StackedTrainer, "_train_tasks", watched)
    assert Pack(3).play([partial(play, seed) for seed in range(3)]) == [None] * 3
    assert max(sizes) > CLIENTS
    for found, expected in zip(packed, alone, strict=True):
        pd.testing.assert_frame_equal(found, expected, rtol=1e-4, atol=1e-5)


def test_a_run_that_diverges_names_its_client_and_the_others_find_the_same(data: ImageData, engine: Any) -> None:
    """In a server run it is a result, not an error."""
    alone, packed = engine(data, 0), []
    errors = Pack(2).play([lambda: engine(data, DIVERGES), lambda: packed.append(engine(data, 0))])
    assert errors[1] is None
    if engine is not server_run:
        assert isinstance(errors[0], TrainingError)
        assert "the loss is not finite" in str(errors[0])
    pd.testing.assert_frame_equal(packed[0], alone, rtol=1e-4, atol=1e-5)
