"""The event-driven engine: order of events, what is sent and aggregated, and lazy work beside the plain order."""

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from outagefl.datasets.arrays import ImageData
from outagefl.engines import event_simulation, events
from outagefl.engines.event_simulation import Network, activate, aggregate, play, send, start
from outagefl.errors import InputError
from outagefl.inputs.channel import bernoulli
from outagefl.inputs.partitions import Partition
from outagefl.rules.inbox import swift_adaptive
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.stacked import StackedTrainer

NODES = 4
RING = np.array([[i, (i + 1) % NODES] for i in range(NODES)])
SPEC: dict[str, Any] = {
    "seed": 0,
    "clients": NODES,
    "horizon": 6.0,
    "model": {"kind": "mlp", "hidden": [8]},
    "init": "pytorch",
    "training": {"steps": 2, "batch_size": 8, "learning_rate": 0.01, "order": "whole_epochs", "optimiser": "adam"},
    "channel": {"kind": "bernoulli"},
    "chunk": 16,
    "fill_at": "aggregation",
    "exchange": "all",
    "evaluation": {"every": 2, "clock": "seconds"},
    "rule": {"kind": "dflaa", "tau": 5, "beta": 0.05, "c_min": 0.1, "q_floor": 0.05, "update_on": "reception"},
}


@pytest.fixture
def data() -> ImageData:
    return bright_or_dark()


def bright_or_dark() -> ImageData:
    """Two classes that differ in brightness."""
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 2, size) for size in (80, 40)]
    images = [(rng.integers(0, 120, (len(y), 4, 4, 1)) + 120 * y[:, None, None, None]).astype(np.uint8) for y in labels]
    return ImageData(images[0], labels[0], images[1], labels[1], ("dark", "bright"), (0.45,), (0.25,), "")


def run(
    data: ImageData, loss: float = 0.3, topology: Any = RING, speeds: Any = (0.5, 1.0, 2.0, 0.5), **changes: Any
) -> pd.DataFrame:
    nodes = len(speeds)
    partition = Partition(tuple(np.array_split(np.arange(80), nodes)), (np.arange(0),) * nodes)
    links = np.full(len(topology), loss)
    return events.run({**SPEC, **changes}, data, partition, topology, links, np.array(speeds), lambda *_: None, "cpu")


class Counting:
    """Adds one to every number of a node's model, and counts what it was asked for."""

    stacks = True

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def train(self, rows: Any, nodes: Any, numbers: Any, done: Any, states: Any) -> None:
        self.calls.append(nodes.tolist())
        for row in rows:
            row.add_(1)


def network(loss: float = 0.0, fill_at: str = "aggregation", length: int = 4) -> Network:
    def channel(chunks: int, loss: float, rng: Any) -> Any:
        return np.arange(chunks) >= loss * chunks  # the first chunks are lost

    targets = tuple({int(target): loss} for _, target in RING)
    return Network(targets, channel, chunk=2, length=length, fill_at=fill_at, seed=0)


def half(view: Any, memory: Any) -> Any:
    return np.full(len(view.senders), 0.5)


def nobody(_: int) -> bool:
    return False


def test_events_come_by_time_and_ties_by_number() -> None:
    found = list(islice(event_simulation.events(np.array([1.0, 0.5, 0.1])), 16))
    assert [node for _, node in found] == [0, 1, 2, *[2] * 4, 1, 2, *[2] * 4, 0, 1, 2]
    assert found[-3:] == [(1.0, 0), (1.0, 1), (1.0, 2)]  # ten times a tenth is one: times are products, not sums


def test_an_activation_works_sends_and_then_aggregates() -> None:
    state = start(torch.zeros(4), torch.zeros(NODES, 0, 4), {})
    trainer: Any = Counting()
    activate(state, network(), half, trainer, 0, 0.0, nobody)
    assert state.models[0].tolist() == [1] * 4  # its inbox is empty
    assert state.inboxes[1][0].sent.tolist() == [1] * 4
    activate(state, network(), half, trainer, 1, 0.0, nobody)
    assert state.inboxes[2][1].sent.tolist() == [1] * 4  # sent before it aggregated
    state.models[0] += 8
    activate(state, network(), half, trainer, 0, 1.0, nobody)
    activate(state, network(), half, trainer, 1, 2.0, nobody)
    assert state.models[1].tolist() == [0.5 * 2 + 0.5 * 10] * 4
    assert state.inboxes[1][0].generated_at == 1.0
    activate(state, network(), half, trainer, 1, 3.0, nobody)
    assert state.models[1].tolist() == [0.5 * 7 + 0.5 * 10] * 4  # the message stays and counts again


def test_missing_chunks_are_filled_from_the_receiver_then_or_when_they_come() -> None:
    for fill_at, expected in (("aggregation", [8, 8, 4.5, 4.5]), ("reception", [7.5, 7.5, 4.5, 4.5])):
        state = start(torch.zeros(4), torch.zeros(NODES, 0, 4), {})
        state.models[1] = 7
        send(state, network(0.5, fill_at), 0, torch.ones(4), 0.0)
        assert state.receptions[1] == [(0, 0.5)]
        activate(state, network(0.5, fill_at), half, Counting(), 1, 0.0, nobody)  # type: ignore[arg-type]
        assert state.models[1].tolist() == expected
        assert state.receptions[1] == []


def test_what_does_not_travel_stays_ones_own() -> None:
    state = start(torch.zeros(4), torch.zeros(NODES, 0, 4), {})
    send(state, network(length=2), 0, torch.full((4,), 9.0), 0.0)
    activate(state, network(length=2), half, Counting(), 1, 0.0, nobody)  # type: ignore[arg-type]
    assert state.models[1].tolist() == [5, 5, 1, 1]


def test_pending_work_is_done_together_and_none_of_it_in_vain() -> None:
    state, trainer = start(torch.zeros(4), torch.zeros(NODES, 0, 4), {}), Counting()
    list(play(state, network(), half, trainer, np.array([1.0, 1.0, 2.0, 9.0]), 2.0))  # type: ignore[arg-type]
    assert trainer.calls == [[0, 1, 2, 3], [0, 1, 2], [0, 1]]
    assert state.activations.tolist() == [3, 3, 2, 1]
    assert state.trained == {}


class Gathering(LocalTrainer):
    """Trains all pending work together, one client after the other."""

    stacks = True


@st.composite
def schedules(draw: st.DrawFn) -> dict[str, Any]:
    """Up to five nodes, alone or joined by any edges, with intervals that often tie."""
    nodes = draw(st.integers(1, 5))
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return {
        "speeds": draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=nodes, max_size=nodes)),
        "topology": np.array(sorted(edges), dtype=np.int64).reshape(-1, 2),
        "loss": draw(st.sampled_from([0.0, 0.3, 0.8])),
        "clients": nodes,
        "horizon": 2.0,
        "evaluation": {"every": 1, "clock": "seconds"},
        "rule": draw(st.sampled_from([SPEC["rule"], {"kind": "swift_adaptive"}, {"kind": "ad_psgd"}])),
    }


def watched(data: ImageData, trainer: type[LocalTrainer], schedule: dict[str, Any]) -> tuple[Any, ...]:
    """The metrics of a run, its events and what arrived of its messages."""
    seen: list[Any] = []
    masks: list[list[bool]] = []

    def noting_events(*given: Any) -> None:
        seen.append(given[4:6])
        activate(*given)

    def noting_masks(chunks: int, loss: float, rng: np.random.Generator) -> Any:
        masks.append((arrived := received(chunks, loss, rng)).tolist())
        return arrived

    received = bernoulli.received
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "trainer_class", lambda *_, **__: trainer)
        patch.setattr(event_simulation, "activate", noting_events)
        patch.setattr(bernoulli, "received", noting_masks)
        return run(data, **schedule), seen, masks


@settings(max_examples=5, deadline=None)
@given(schedules())
@example({"speeds": [1.0], "topology": np.zeros((0, 2), dtype=np.int64), "clients": 1})
@example({"speeds": [1.0] * 3, "topology": np.zeros((0, 2), dtype=np.int64), "clients": 3})
def test_work_done_together_gives_what_the_plain_order_gives(schedule: dict[str, Any]) -> None:
    """To the last bit one by one; as a stack of clients up to the rounding of float32."""
    data = bright_or_dark()
    plain, order, masks = watched(data, LocalTrainer, schedule)
    assert order
    for trainer, exact in ((Gathering, True), (StackedTrainer, False)):
        table, *others = watched(data, trainer, schedule)
        assert others == [order, masks]
        pd.testing.assert_frame_equal(
            table, plain, check_exact=exact, **({} if exact else {"rtol": 1e-3, "atol": 1e-3})
        )


def test_work_that_is_not_stacked_waits_for_its_turn() -> None:
    """Results known too early would take a model's memory for every node."""
    state, trainer = start(torch.zeros(4), torch.zeros(NODES, 0, 4), {}), Counting()
    trainer.stacks = False
    list(play(state, network(), half, trainer, np.array([1.0, 1.0, 2.0, 9.0]), 1.0))  # type: ignore[arg-type]
    assert trainer.calls == [[0], [1], [2], [3], [0], [1]]


def test_uniform_mixing_of_everyones_models_keeps_their_mean() -> None:
    """Over a complete graph without loss, when all inboxes hold what everyone has."""
    edges = [(i, j) for i in range(NODES) for j in range(NODES) if i != j]
    everyone = replace(network(), targets=tuple({j: 0.0 for i, j in edges if i == node} for node in range(NODES)))
    state = start(torch.zeros(4), torch.zeros(NODES, 0, 4), {})
    models = torch.from_numpy(np.random.default_rng(0).normal(size=(NODES, 4))).float()
    for node in range(NODES):
        send(state, everyone, node, models[node], 0.0)
    for node in range(NODES):
        aggregate(state, everyone, swift_adaptive.weights, node, models[node])
    torch.testing.assert_close(state.models, models.mean(dim=0).expand(NODES, -1))


def test_it_learns_and_tells_time_in_seconds(data: ImageData) -> None:
    table = run(data)
    wide = table[table["client"] == -1].pivot(index="time", columns="metric", values="value")
    assert wide.index.tolist() == [2, 4, 6]
    assert wide.loc[6, "accuracy"] > 0.8
    assert set(wide) == {"accuracy", "loss", "age", "reception_rate", "consensus_distance"}
    assert wide["reception_rate"].between(0.5, 0.9).all()
    per_node = table[(table["metric"] == "accuracy") & (table["round"] == 3) & (table["client"] >= 0)]
    assert per_node["value"].mean() == pytest.approx(wide.loc[6, "accuracy"])


def test_the_released_clock_evaluates_after_events(data: ImageData) -> None:
    found = run(data, evaluation={"every": 2, "clock": "events"}, horizon=7.0)
    assert found["time"].unique().tolist() == [1, 3, 5, 7]


@pytest.mark.parametrize("change", [{"loss": 0.0}, {"loss": 1.0}, {"topology": np.zeros((0, 2), dtype=np.int64)}])
def test_edges_of_the_network(data: ImageData, change: dict[str, Any]) -> None:
    table = run(data, **change)
    assert np.isfinite(table["value"]).all()


def test_inputs_must_fit(data: ImageData) -> None:
    with pytest.raises(InputError, match="links and speeds"):
        events.run(
            SPEC,
            data,
            Partition((np.arange(80),) * NODES, (np.arange(0),) * NODES),
            RING,
            np.zeros(3),
            np.ones(NODES),
            partial(print),
            "cpu",
        )
    with pytest.raises(InputError, match="expected two different clients"):
        run(data, topology=np.array([[0, 0]]))
