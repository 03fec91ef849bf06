"""The synchronous gossip engine, against the article's numbers and a plain implementation of the same rounds."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import nn

from outagefl import components
from outagefl.datasets.arrays import ImageData
from outagefl.engines import gossip
from outagefl.errors import InputError, TrainingError
from outagefl.inputs.graphs import adjacency
from outagefl.inputs.partitions import Partition
from outagefl.randomness import generator
from outagefl.rules.gossip_view import GossipView, normalise
from outagefl.runs.choices import chosen_option
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer

STUDY = Path(__file__).parents[2] / "config" / "studies" / "sfg.yaml"
METHODS = yaml.safe_load(STUDY.read_text())["methods"].values()
RULES = {method["rule"]["kind"]: method["rule"] for method in METHODS if chosen_option(method) is None}
MODEL = {"kind": "cnn", "channels": [4], "hidden": [8]}
SHAPE, CLASSES = (6, 6, 1), 3
TRIANGLE = np.array([[0, 1], [0, 2], [1, 2]])
PATH = np.array([[0, 1], [1, 2]])
AS_EVERYONE = ("train_then_mix", "trains_and_mixes")
# Client 0 misses rounds 1 and 2; client 2 is away in round 4 and in the last; nobody is there in round 5.
AVAILABLE = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=bool)


def make_data() -> ImageData:
    """Three classes of noisy images, each brighter in a place of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, 150)
    x = rng.integers(0, 120, (150, *SHAPE), dtype=np.uint8)
    for image, label in zip(x, y, strict=True):
        image[2 * label : 2 * label + 2] += 100
    return ImageData(x[:90], y[:90], x[90:], y[90:], ("a", "b", "c"), (0.35,), (0.25,), "")


DATA = make_data()


def make_partition(clients: int) -> Partition:
    train, test = (np.array_split(np.arange(n), clients) for n in (90, 60))
    return Partition(tuple(train), tuple(test))


def make_spec(rule: str = "sfg", rounds: int = 7, clients: int = 3, **changes: Any) -> dict[str, Any]:
    return {
        "engine": "gossip",
        "seed": 5,
        "clients": clients,
        "rounds": rounds,
        "order": "train_then_mix",
        "returning": "trains_and_mixes",
        "model": MODEL,
        "training": {"steps": 2, "batch_size": 8, "learning_rate": 0.05},
        "rule": RULES[rule],
        "evaluation": {"every": 3},
    } | changes


def run(spec: dict[str, Any], edges: np.ndarray = TRIANGLE, available: np.ndarray = AVAILABLE) -> pd.DataFrame:
    return gossip.run(spec, DATA, make_partition(spec["clients"]), edges, available, lambda *_: None, "cpu")


def values(table: pd.DataFrame, metric: str, client: int) -> dict[int, float]:
    chosen = table[(table["metric"] == metric) & (table["client"] == client)]
    return dict(zip(chosen["round"].tolist(), chosen["value"].tolist(), strict=True))


def make_trainer(clients: int, learning_rate: float = 0.05) -> LocalTrainer:
    module = initial_model(MODEL, SHAPE, CLASSES, 5)
    device = torch.device("cpu")
    training = {"steps": 2, "batch_size": 8, "learning_rate": learning_rate}
    return LocalTrainer(module, DATA, make_partition(clients), 5, device, **training)


def test_the_worked_example_of_the_article() -> None:
    """A client returns after two rounds, lags [2, 0, 0]: it keeps 1/9 of its model, its lag becomes 2/9."""
    table = run(make_spec("sfg"))
    assert values(table, "self_weight", 0)[3] == pytest.approx(1 / 9)
    assert values(table, "self_weight", 1)[3] == pytest.approx(4 / 9)
    lag = values(table, "lag", 0)
    assert [lag[1], lag[2], lag[3]] == pytest.approx([1, 2, 2 / 9])


def test_age_counts_the_rounds_missed_before_training() -> None:
    table = run(make_spec("dfedavg"))
    assert list(values(table, "age", 0).values()) == [0, 1, 2, 0, 0, 1, 0]
    assert list(values(table, "age", 2).values()) == [0, 0, 0, 0, 1, 2, 0]


def test_lag_without_exchange_only_grows() -> None:
    """A client online without online neighbours keeps its lag: training does not erase it."""
    table = run(make_spec("local"))
    assert list(values(table, "lag", 0).values()) == [1, 2, 2, 2, 3, 3, 3]


def plain_run(spec: dict[str, Any], edges: np.ndarray, available: np.ndarray) -> dict[str, np.ndarray]:
    """The same rounds with one network and one optimiser per client, state dicts and loops over clients.

    Weights come from the rule's function, which has tests of its own.
    """
    clients, training, partition = spec["clients"], spec["training"], make_partition(spec["clients"])
    scores, options = components.load("gossip rule", spec["rule"])

    def images(x: np.ndarray) -> torch.Tensor:
        return torch.tensor((x / 255 - 0.35) / 0.25, dtype=torch.float32).permute(0, 3, 1, 2).contiguous()

    def network() -> nn.Module:
        initial = initial_model(MODEL, SHAPE, CLASSES, spec["seed"])
        layers = [
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(36, 8), nn.ReLU(), nn.Linear(8, CLASSES),
        ]  # fmt: skip
        module = nn.Sequential(*layers)
        module.load_state_dict(initial.state_dict())
        return module

    def train(online: np.ndarray, t: int) -> None:
        for i in np.flatnonzero(online):
            rng = generator(spec["seed"], "batches", i, t)
            own = partition.train[i]
            need = training["steps"] * min(training["batch_size"], len(own))
            order: list[int] = []
            while len(order) < need:
                order += rng.permutation(own).tolist()
            optimizer = torch.optim.SGD(networks[i].parameters(), lr=training["learning_rate"])
            for chosen in np.array(order[:need]).reshape(training["steps"], -1):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(
                    networks[i](images(DATA.x_train[chosen])), torch.tensor(DATA.y_train[chosen])
                )
                loss.backward()
                optimizer.step()

    networks = [network() for _ in range(clients)]
    lag, age = [0.0] * clients, [0.0] * clients
    gaps: list[list[float]] = [[] for _ in range(clients)]
    found: dict[str, list[list[float]]] = {name: [] for name in ("accuracy", "loss", "lag", "age")}
    for t in range(1, spec["rounds"] + 1):
        online = available[t - 1]
        back = online & ~(available[t - 2] if t > 1 else np.ones(clients, dtype=bool))
        training_now = online & ~back if spec["returning"] == "only_mixes" else online
        mixing_now = online & ~back if spec["returning"] == "only_trains" else online
        if spec["order"] == "train_then_mix":
            train(training_now, t)
        found["age"].append(list(age))
        candidates = np.eye(clients, dtype=bool)
        for i, j in edges:
            candidates[i, j] = candidates[j, i] = mixing_now[i] and mixing_now[j]
        mean_gap = np.array([np.mean(seen) if seen else np.inf for seen in gaps])
        view = GossipView(candidates, np.array(lag), np.array(age), training_now, mean_gap)
        weights = normalise(scores(view, **options), candidates)
        for i in range(clients):
            met = sorted(lag[j] for j in range(clients) if candidates[i, j])
            gaps[i] += [other - met[0] for other in met[1:]]
        before, old_lag = [deepcopy(n.state_dict()) for n in networks], list(lag)
        for i in range(clients):
            if online[i]:
                mixed = {key: sum(weights[i, j] * before[j][key] for j in range(clients)) for key in before[i]}
                networks[i].load_state_dict(mixed)
                lag[i] = sum(weights[i, j] * old_lag[j] for j in range(clients))
            else:
                lag[i] += 1
            age[i] = 0 if training_now[i] else age[i] + 1
        if spec["order"] == "mix_then_train":
            train(training_now, t)
        found["lag"].append(list(lag))
        accuracy, losses = [], []
        for i in range(clients):
            labels = torch.tensor(DATA.y_test[partition.test[i]])
            with torch.no_grad():
                logits = networks[i](images(DATA.x_test[partition.test[i]]))
            accuracy.append((logits.argmax(dim=1) == labels).double().mean().item())
            losses.append(nn.functional.cross_entropy(logits, labels).item())
        found["accuracy"].append(accuracy)
        found["loss"].append(losses)
    return {name: np.array(rows) for name, rows in found.items()}


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("edges", [TRIANGLE, PATH], ids=["triangle", "path"])
@pytest.mark.parametrize("order", ["train_then_mix", "mix_then_train"])
def test_a_run_equals_the_plain_implementation(rule: str, edges: np.ndarray, order: str) -> None:
    spec = make_spec(rule, evaluation={"every": 1}, order=order)
    expected, table = plain_run(spec, edges, AVAILABLE), run(spec, edges)
    for metric, rows in expected.items():
        for client in range(3):
            assert list(values(table, metric, client).values()) == pytest.approx(rows[:, client], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("returning", ["only_mixes", "only_trains"])
@pytest.mark.parametrize("order", ["train_then_mix", "mix_then_train"])
@pytest.mark.parametrize("rule", ["sfg_online", "aoi_inclusive"])
def test_a_first_round_back_equals_the_plain_implementation(rule: str, order: str, returning: str) -> None:
    spec = make_spec(rule, evaluation={"every": 1}, order=order, returning=returning)
    expected, table = plain_run(spec, PATH, AVAILABLE), run(spec, PATH)
    for metric, rows in expected.items():
        for client in range(3):
            assert list(values(table, metric, client).values()) == pytest.approx(rows[:, client], rel=1e-4, abs=1e-6)


def test_nobody_returns_in_the_first_round() -> None:
    """It has no round before it; who is there trains and mixes."""
    everyone = np.ones((3, 3), dtype=bool)
    spec = make_spec("sfg", rounds=3)
    for returning in ("only_mixes", "only_trains"):
        assert run(spec | {"returning": returning}, available=everyone).equals(run(spec, available=everyone))


def test_rules_of_one_seed_differ_in_nothing_but_the_mixing() -> None:
    """Before anyone has missed a round, sfg is dfedavg bit for bit."""
    everyone = np.ones((4, 3), dtype=bool)
    assert run(make_spec("sfg", rounds=4), available=everyone).equals(
        run(make_spec("dfedavg", rounds=4), available=everyone)
    )


def test_a_run_repeats_bit_for_bit_and_leaves_global_generators_alone() -> None:
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first, again = run(make_spec()), run(make_spec())
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert not first.equals(run(make_spec(seed=6)))
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert (np.random.get_state()[1] == numpy_state).all()  # noqa: NPY002


def test_the_table_is_tidy() -> None:
    table = run(make_spec())
    kinds = {name: str(kind) for name, kind in table.dtypes.items()}
    assert kinds == {
        "round": "int32", "time": "float64", "client": "int32", "metric": "category", "value": "float64",
    }  # fmt: skip
    assert (table["time"] == table["round"]).all()
    ordered = table.assign(metric=table["metric"].astype(str)).sort_values(["round", "client", "metric"])
    assert (ordered.index == table.index).all()
    assert not table.duplicated(["round", "client", "metric"]).any()
    assert not table["value"].isna().any()


def test_what_is_measured_when() -> None:
    """Accuracy and loss every third round and at the end; a mean over the online clients where there are any."""
    table = run(make_spec())
    for client in (-1, 0, 1, 2):
        assert list(values(table, "accuracy", client)) == list(values(table, "loss", client)) == [3, 6, 7]
        assert list(values(table, "online", client)) == list(values(table, "lag", client)) == list(range(1, 8))
    assert list(values(table, "self_weight", 2)) == [1, 2, 3, 6]
    assert values(table, "neighbours", 1) == {1: 1, 2: 1, 3: 2, 4: 1, 6: 2, 7: 1}
    assert list(values(run(make_spec(), edges=PATH), "neighbours", 2).values()) == [1, 1, 1, 1]
    assert list(values(table, "self_weight", -1)) == [1, 2, 3, 4, 6, 7]
    assert values(table, "self_weight", -1)[4] == pytest.approx(
        np.mean([values(table, "self_weight", 0)[4], values(table, "self_weight", 1)[4]])
    )
    accuracies = [values(table, "accuracy", client)[7] for client in range(3)]
    assert values(table, "accuracy", -1)[7] == pytest.approx(np.mean(accuracies))
    assert list(values(table, "online", -1).values()) == pytest.approx(AVAILABLE.mean(axis=1))


def test_progress_is_reported_at_evaluations() -> None:
    seen: list[tuple[int, float]] = []
    spec = make_spec()
    table = gossip.run(spec, DATA, make_partition(3), TRIANGLE, AVAILABLE, lambda *now: seen.append(now), "cpu")
    assert dict(seen) == pytest.approx(values(table, "accuracy", -1))


def test_training_together_teaches_more_than_guessing() -> None:
    spec = make_spec("dfedavg", rounds=30)
    table = run(spec, available=np.ones((30, 3), dtype=bool))
    accuracy = values(table, "accuracy", -1)
    assert accuracy[30] > 0.9 > accuracy[3]


@settings(max_examples=10)
@given(online=arrays(bool, 4))
def test_one_round_changes_online_clients_only(online: np.ndarray) -> None:
    trainer = make_trainer(4)
    neighbours = adjacency(np.array([[0, 1], [1, 2], [2, 3]]), 4)
    state = gossip.start(trainer.model.row(), 4, 1)
    before = state.models.clone()
    scores, options = components.load("gossip rule", make_spec("sfg")["rule"])
    gossip.advance(state, lambda view: scores(view, **options), trainer, neighbours, online, *AS_EVERYONE)
    changed = (state.models != before).any(dim=1).numpy()
    assert (changed == online).all()
    assert (state.changed | ~online).all()


def test_candidates_are_the_client_itself_and_online_neighbours_of_online_clients() -> None:
    """A path 0–1–2–3 with client 1 away."""
    path = adjacency(np.array([[0, 1], [1, 2], [2, 3]]), 4)
    found = gossip.candidates(path, np.array([True, False, True, True]))
    assert found.astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]


def test_local_keeps_what_training_made() -> None:
    trainer = make_trainer(3)
    state = gossip.start(trainer.model.row(), 3, 1)
    trained = state.models.clone()
    trainer.train([trained[0], trained[2]], np.array([0, 2]), 1, np.array([0, 0]))
    scores, _ = components.load("gossip rule", {"kind": "local"})
    gossip.advance(state, scores, trainer, adjacency(TRIANGLE, 3), np.array([True, False, True]), *AS_EVERYONE)
    assert torch.equal(state.models, trained)


@settings(max_examples=5)
@given(clients=st.integers(1, 6))
def test_the_plain_mean_over_everyone_is_consensus(clients: int) -> None:
    trainer = make_trainer(clients)
    everyone = np.ones((clients, clients), dtype=bool) & ~np.eye(clients, dtype=bool)
    state = gossip.start(trainer.model.row(), clients, 2)
    scores, _ = components.load("gossip rule", {"kind": "dfedavg"})
    for _ in range(2):
        gossip.advance(state, scores, trainer, everyone, np.ones(clients, dtype=bool), *AS_EVERYONE)
        spread = state.models - state.models[0]
        assert spread.abs().max() < 1e-6


def test_reused_evaluations_equal_full_ones() -> None:
    """Offline clients are not evaluated again, and their results are what another evaluation would give."""
    asked: list[list[int]] = []
    evaluate = LocalTrainer.evaluate

    def watched(self: LocalTrainer, models: torch.Tensor, clients: np.ndarray, round_number: int) -> np.ndarray:
        asked.append(clients.tolist())
        return evaluate(self, models, clients, round_number)

    def thorough(state: gossip.GossipState, trainer: LocalTrainer) -> None:
        state.changed[:] = True
        frugal(state, trainer)

    frugal = gossip.evaluate
    available = np.array([[0, 1, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)
    spec = make_spec(rounds=4, evaluation={"every": 1})
    with patch.object(LocalTrainer, "evaluate", watched):
        table = run(spec, available=available)
    with patch.object(gossip, "evaluate", thorough):
        full = run(spec, available=available)
    assert asked == [[0, 1, 2], [1], [], [0]]
    pd.testing.assert_frame_equal(table, full, check_exact=True)


@pytest.mark.parametrize("order", ["train_then_mix", "mix_then_train"])
def test_rounds_missed_do_not_count_as_trained(order: str) -> None:
    done: dict[int, list[int]] = {0: [], 1: [], 2: []}

    def watched(self: LocalTrainer, rows: Any, clients: np.ndarray, round_number: int, before: np.ndarray) -> None:
        for client, rounds in zip(clients.tolist(), before.tolist(), strict=True):
            done[client].append(rounds)

    with patch.object(LocalTrainer, "train", watched):
        run(make_spec(order=order))
    assert done == {0: [0, 1, 2, 3], 1: [0, 1, 2, 3, 4, 5], 2: [0, 1, 2, 3]}


def test_diverging_training_is_an_error() -> None:
    spec = make_spec(training={"steps": 4, "batch_size": 8, "learning_rate": 1e20})
    with pytest.raises(TrainingError, match=r"client 1: .*round 1 "):
        run(spec)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"availability": AVAILABLE[:5]}, r"availability: .*\(5, 3\), expected bool of shape \(7, 3\)"),
        ({"availability": AVAILABLE.astype(float)}, "availability: found float64"),
        ({"topology": np.array([[0, 3]])}, r"topology: found edge \[0, 3\], expected two different clients of 0 to 2"),
        ({"topology": np.array([[1, 1]])}, r"topology: found edge \[1, 1\]"),
        ({"topology": np.array([0, 1])}, r"topology: found edges of shape \(2,\)"),
        ({"partition": make_partition(4)}, "partition: found 4 clients in the train split, expected 3"),
        (
            {"partition": Partition(make_partition(3).train, (np.arange(3), np.arange(0), np.arange(3)))},
            "partition: client 1 has no test image",
        ),
        (
            {"partition": Partition((np.arange(3), np.arange(3), np.arange(91)), make_partition(3).test)},
            "partition: client 2 has train images 0 to 90, expected 0 to 89",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    inputs = {"partition": make_partition(3), "topology": TRIANGLE, "availability": AVAILABLE} | changes
    with pytest.raises(InputError, match=message):
        gossip.run(make_spec(), DATA, **inputs, report=lambda *_: None, device="cpu")
