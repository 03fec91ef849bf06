"""The server engine as a whole, on a few small images."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from outagefl.datasets.arrays import ImageData
from outagefl.engines import server
from outagefl.engines.schedule import due
from outagefl.errors import InputError
from outagefl.inputs.partitions import Partition

CLIENTS, ROUNDS = 4, 12
SPEC: dict[str, Any] = {
    "seed": 0,
    "clients": CLIENTS,
    "rounds": ROUNDS,
    "model": {"kind": "cnn", "channels": [4], "hidden": [8]},
    "training": {"steps": 2, "batch_size": 8, "learning_rate": 0.1},
    "server_learning_rate": 1.0,
    "head_init": "kaiming",
    "evaluated": "global",
    "evaluation": {"every": 4, "last": 3, "last_every": 1, "train_images": 30},
    "rule": {"kind": "fedavg_active"},
}
FEDSWE = {"kind": "fedswe", "k": 4, "innovation_clip": None}


@pytest.fixture
def data() -> ImageData:
    """Two classes that differ in brightness, so that they can be learnt."""
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 2, size) for size in (80, 40)]
    images = [rng.integers(0, 120, (len(y), 8, 8, 1)) + 120 * y[:, None, None, None] for y in labels]
    (x_train, x_test), (y_train, y_test) = (tuple(x.astype(np.uint8) for x in images), labels)
    return ImageData(x_train, y_train, x_test, y_test, ("dark", "bright"), (0.45,), (0.25,), "")


def play(data: ImageData, availability: Any = None, **changes: Any) -> pd.DataFrame:
    partition = Partition(tuple(np.arange(80).reshape(CLIENTS, -1)), (np.arange(0),) * CLIENTS)
    if availability is None:
        availability = np.random.default_rng(1).random((ROUNDS, CLIENTS)) < 0.6
    probability = np.full(availability.shape, 0.6)
    told: list[tuple[int, float]] = []
    table = server.run(
        {**SPEC, **changes},
        data,
        partition,
        availability,
        report=lambda *line: told.append(line),
        device="cpu",
        probability=probability,
    )
    accuracy = table[(table["metric"] == "accuracy")]
    if not (table["metric"] == "diverged").any() or table.loc[table["metric"] == "diverged", "value"].max() == 0:
        assert told == list(zip(accuracy["round"], accuracy["value"], strict=True))
    return table.pivot(index="round", columns="metric", values="value")


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "fedavg_active"},
        {"kind": "fedavg_known"},
        {"kind": "fedau", "longest_interval": 50},
        {"kind": "mifa"},
        {"kind": "fedvarp"},
        FEDSWE,
    ],
    ids=lambda rule: rule["kind"],
)
def test_it_learns_and_is_the_same_twice(data: ImageData, rule: dict[str, Any]) -> None:
    once, again = play(data, rule=rule), play(data, rule=rule)
    pd.testing.assert_frame_equal(once, again, check_exact=True)
    assert once["accuracy"].dropna().index.tolist() == [4, 8, 10, 11, 12]
    assert once.loc[12, "accuracy"] > 0.8
    assert once.loc[12, "train_accuracy"] > 0.8
    assert once["online"].notna().all()
    assert ("consensus_error" in once) == (rule is FEDSWE)


def test_memory_is_told_once(data: ImageData) -> None:
    d = 4 * 10 + 8 * (4 * 4 * 4 + 1) + 2 * 9
    mifa, fedswe = (
        play(data, rule=rule)[["server_memory", "client_memory"]].dropna() for rule in ({"kind": "mifa"}, FEDSWE)
    )
    assert mifa.to_dict("index") == {ROUNDS: {"server_memory": d + CLIENTS * d, "client_memory": 0}}
    assert fedswe.to_dict("index") == {ROUNDS: {"server_memory": d + CLIENTS, "client_memory": d}}


def test_amplification_is_measured_before_and_after(data: ImageData) -> None:
    found = play(data, rule={"kind": "gfedavg", "period": 4, "amplification": 3})
    assert found["unamplified_accuracy"].dropna().index.tolist() == [4, 8, 12]
    same = play(data, rule={"kind": "gfedavg", "period": 4, "amplification": 1})
    assert (same["unamplified_accuracy"] == same["accuracy"])[[4, 8, 12]].all()


def test_a_run_that_diverges_is_a_result(data: ImageData, caplog: pytest.LogCaptureFixture) -> None:
    found = play(data, training={"steps": 2, "batch_size": 8, "learning_rate": 1e20})
    assert found["diverged"].dropna().tolist() == [1] * 5
    assert found["accuracy"].dropna().tolist() == [0.5] * 5
    assert "training diverged" in caplog.text


@pytest.mark.parametrize("round_number", [10, 12])
def test_a_model_that_is_not_finite_is_found_though_nobody_trains_on_it(data: ImageData, round_number: int) -> None:
    available = np.zeros((ROUNDS, CLIENTS), dtype=bool)
    available[round_number - 1] = True
    found = play(data, available, server_learning_rate=1e39)
    evaluated = [4, 8, 10, 11, 12]
    assert found["diverged"].dropna().tolist() == [float(number >= round_number) for number in evaluated]
    assert (found["accuracy"][evaluated][found["diverged"] == 1] == 0.5).all()


def test_with_nobody_at_all_the_model_stays(data: ImageData) -> None:
    found = play(data, np.zeros((ROUNDS, CLIENTS), dtype=bool), rule=FEDSWE)
    assert found["accuracy"].nunique() == 1
    assert found["consensus_error"].dropna().eq(0).all()
    assert found["online"].eq(0).all()


@pytest.mark.parametrize("length", [1, 15, 16, 17])
def test_every_client_trains_at_an_aligned_place_in_memory(length: int) -> None:
    """The last bits of a product may depend on it, and who else is there must not change what a client learns."""
    rows = torch.arange(3.0 * length).view(3, length)
    copy = server.aligned_copy(rows)
    assert (copy == rows).all()
    assert {row.data_ptr() % 64 for row in copy} == {0}
    assert all(row.is_contiguous() for row in copy)


def test_inputs_must_fit(data: ImageData) -> None:
    with pytest.raises(InputError, match="availability"):
        play(data, np.ones((ROUNDS, CLIENTS + 1), dtype=bool))


@pytest.mark.parametrize(
    ("rounds", "every", "last", "last_every", "expected"),
    [
        (10, 4, 0, 1, [4, 8, 10]),
        (10, 5, 0, 1, [5, 10]),
        (10, 4, 4, 2, [4, 8, 10]),
        (11, 4, 4, 2, [4, 8, 9, 11]),
        (3, 10, 0, 1, [3]),
    ],
)
def test_rounds_of_evaluation(rounds: int, every: int, last: int, last_every: int, expected: list[int]) -> None:
    found = [n for n in range(1, rounds + 1) if due(n, rounds, every=every, last=last, last_every=last_every)]
    assert found == expected
