"""A run that is interrupted again and again, and goes on from its checkpoints, finds what an undisturbed one finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from outagefl.engines import events, gossip, server
from outagefl.engines.checkpoint import NONE, Checkpoint
from outagefl.inputs.partitions import Partition
from outagefl.runs.checkpoints import RunCheckpoint
from outagefl.runs.choices import chosen_option
from outagefl.training.stacked import StackedTrainer
from tests.unit.test_events_engine import NODES, RING, bright_or_dark
from tests.unit.test_events_engine import SPEC as EVENTS
from tests.unit.test_gossip_engine import AVAILABLE, DATA, TRIANGLE, make_partition, make_spec
from tests.unit.test_server_engine import CLIENTS
from tests.unit.test_server_engine import SPEC as SERVER

IMAGES = bright_or_dark()
MLP = {"kind": "mlp", "hidden": [8], "dropout": 0.2}
Play = Callable[[Checkpoint], pd.DataFrame]


def rules(study: str) -> list[dict[str, Any]]:
    """The rules of a study, one of each kind."""
    methods = yaml.safe_load(Path(f"config/studies/{study}.yaml").read_text())["methods"].values()
    return list({each["rule"]["kind"]: each["rule"] for each in methods if chosen_option(each) is None}.values())


def nothing(*_: object) -> None:
    pass


def gossip_run(checkpoint: Checkpoint = NONE, **changes: Any) -> pd.DataFrame:
    spec = make_spec(model=MLP, evaluation={"every": 2}) | changes
    partition = make_partition(3)
    return gossip.run(spec, DATA, partition, TRIANGLE, AVAILABLE, nothing, "cpu", checkpoint=checkpoint)


SERVED = np.random.default_rng(1).random((9, CLIENTS)) < 0.6


def server_run(checkpoint: Checkpoint = NONE, online: Any = SERVED, **changes: Any) -> pd.DataFrame:
    spec = SERVER | {"rounds": 9, "model": MLP} | changes
    partition = Partition(tuple(np.arange(80).reshape(CLIENTS, -1)), (np.arange(0),) * CLIENTS)
    probability = np.full(online.shape, 0.6)
    return server.run(spec, IMAGES, partition, online, nothing, "cpu", probability, checkpoint)


def events_run(checkpoint: Checkpoint = NONE, **changes: Any) -> pd.DataFrame:
    spec = EVENTS | {"horizon": 4.0, "model": MLP} | changes
    partition = Partition(tuple(np.array_split(np.arange(80), NODES)), (np.arange(0),) * NODES)
    edges = np.concatenate([RING, RING[:2, ::-1]])
    speeds = np.array([0.5, 1.0, 2.0, 0.7])
    return events.run(
        spec, IMAGES, partition, edges, np.full(len(edges), 0.3), speeds, nothing, "cpu", checkpoint=checkpoint
    )


class Counting(Checkpoint):
    offers = 0

    def offer(self, *_: object) -> None:
        self.offers += 1


class Killed(BaseException):
    pass


class Fragile(RunCheckpoint):
    """Keeps the state that it is offered after so many others, and then the process dies."""

    def __init__(self, file: Path, after: int) -> None:
        super().__init__(file, {}, 9, 0)
        self._left = after

    def offer(self, round_number: int, state: object) -> None:
        self._left -= 1
        if self._left < 0:
            self._due = 0
            super().offer(round_number, state)
            raise Killed


def require_same_when_killed(play: Play, file: Path) -> None:
    """Kill a run until it gets through; it must have been killed, and find what it finds when it is not."""
    undisturbed = Counting()
    expected = play(undisturbed)
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    print(f"seed of the moments: {seed}")
    found, kills = None, 0
    while found is None:
        with suppress(Killed):
            found = play(Fragile(file, moments.randrange(1, undisturbed.offers * 2 // 3)))
        kills += found is None
        assert kills < 40, "it never gets any further"
    assert kills
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


ADAM = {**EVENTS["training"], "order": "persistent"}
MOMENTUM = ADAM | {"optimiser": "sgd", "momentum": 0.9, "schedule": "inverse_sqrt"}
CHANGES: dict[str, Play] = {
    "gossip": partial(gossip_run, rule=next(rule for rule in rules("sfg") if rule["kind"] == "sfg_online")),
    "gossip-order": partial(gossip_run, order="mix_then_train", returning="only_mixes"),
    "gossip-training": partial(
        gossip_run,
        returning="only_trains",
        training=SERVER["training"] | {"order": "persistent", "schedule": "inverse_sqrt"},
    ),
    "server-evaluation": partial(server_run, evaluated="client_mean", rule=rules("fedswe")[0]),
    "server-cnn": partial(server_run, model=SERVER["model"], training=SERVER["training"] | {"augmentation": "image"}),
    "events-reception": partial(events_run, fill_at="reception", training=ADAM),
    "events-momentum": partial(events_run, training=MOMENTUM, exchange="parameters"),
    "events-clock": partial(events_run, evaluation={"every": 0.9, "clock": "events"}),
    "events-seconds": partial(events_run, evaluation={"every": 0.3, "clock": "seconds"}),
    "events-channel": partial(events_run, channel={"kind": "gilbert_elliott", "mean_burst": 2}),
}
for kind, play, study in (("server", server_run, "fedswe"), ("events", events_run, "dflaa")):
    CHANGES |= {f"{kind}-{rule['kind']}": partial(play, rule=rule) for rule in rules(study)}


@pytest.mark.parametrize("run", CHANGES.values(), ids=CHANGES.keys())
def test_every_rule_engine_and_way_of_training_goes_on_to_the_last_bit(run: Play, tmp_path: Path) -> None:
    require_same_when_killed(run, tmp_path / "run.pt")


@pytest.mark.parametrize("run", [gossip_run, server_run, events_run])
def test_so_do_clients_that_train_as_one_stack(run: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (gossip, server, events):
        monkeypatch.setattr(module, "trainer_class", lambda *_, **__: StackedTrainer)
    require_same_when_killed(run, tmp_path / "run.pt")


def test_a_server_run_that_diverges_does_so_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    online = np.zeros_like(SERVED)
    online[7] = True
    require_same_when_killed(partial(server_run, online=online, server_learning_rate=1e39), tmp_path / "run.pt")
    assert "training diverged" in caplog.text


def test_what_shares_memory_is_kept_once(tmp_path: Path) -> None:
    """All out-neighbours of a node have the same row in their inboxes."""

    def size(edges: int) -> int:
        file = tmp_path / f"{edges}.pt"
        pairs = [(i, j) for i in range(NODES) for j in range(NODES) if i != j]
        topology = np.array(sorted(pairs[:edges]))
        spec = EVENTS | {"model": {"kind": "mlp", "hidden": [500]}, "horizon": 1.0}
        partition = Partition(tuple(np.array_split(np.arange(80), NODES)), (np.arange(0),) * NODES)
        speeds, losses = np.ones(NODES), np.zeros(edges)
        with suppress(Killed):
            events.run(
                spec, IMAGES, partition, topology, losses, speeds, nothing, "cpu", checkpoint=Fragile(file, NODES)
            )
        return file.stat().st_size

    assert size(3) == pytest.approx(size(1), rel=0.05)
