"""What a configuration will cost: work counted and observed, inputs drawn for it, recorded costs, the command."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
import yaml

from outagefl.__main__ import main
from outagefl.config import read_yaml
from outagefl.datasets import cifar10, cifar100, cinic10, emnist, femnist, svhn
from outagefl.datasets.arrays import ImageData
from outagefl.engines import events, gossip, server
from outagefl.errors import ConfigError
from outagefl.estimate import text
from outagefl.estimate.costs import kind, machine
from outagefl.estimate.inputs import Inputs
from outagefl.estimate.sizes import row_length, rows
from outagefl.estimate.work import Work, count
from outagefl.inputs import availabilities, partitions
from outagefl.inputs.partitions import Partition
from outagefl.runs.plan import Plan, add_run
from outagefl.sources.catalog import sources
from outagefl.training import local_trainer
from outagefl.training.feed import Feed

REPOSITORY = Path(__file__).parents[2]
CATALOG = REPOSITORY / "config" / "sources.yaml"
DIGITS = {"shape": [8, 8, 1], "classes": 10}

# Client 1 is away in rounds 2 and 3, all are in round 5; 30, 7 and 11 images to train on, 4, 5 and 6 to test on.
AVAILABLE = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)
PARTITION = Partition(
    (np.arange(30), np.arange(30, 37), np.arange(37, 48)), (np.arange(4), np.arange(4, 9), np.arange(9, 15))
)
COMMON: dict[str, Any] = {"seed": 0, "clients": 3, "rounds": 6, "model": {"kind": "cnn", "channels": [], "hidden": [4]}}
GOSSIP = {
    **COMMON,
    "engine": "gossip",
    "order": "train_then_mix",
    "returning": "trains_and_mixes",
    "training": {"steps": 2, "batch_size": 8, "learning_rate": 0.01},
    "evaluation": {"every": 4},
    "rule": {"kind": "dfedavg"},
}
SERVER = {
    **COMMON,
    "engine": "server",
    "training": {"steps": 3, "batch_size": 8, "learning_rate": 0.01, "order": "persistent"},
    "server_learning_rate": 1.0,
    "head_init": "kaiming",
    "evaluated": "global",
    "evaluation": {"every": 4, "last": 2, "last_every": 1, "train_images": 20},
    "rule": {"kind": "fedavg_active"},
}
EPOCHS = {"steps": 2, "unit": "epochs", "order": "whole_epochs", "batch_size": 8, "learning_rate": 0.01}
EVENTS = {
    **COMMON,
    "engine": "events",
    "horizon": 6,
    "model": {"kind": "mlp", "hidden": [4]},
    "init": "pytorch",
    "training": EPOCHS,
    "channel": {"kind": "bernoulli"},
    "chunk": 16,
    "fill_at": "aggregation",
    "exchange": "all",
    "evaluation": {"every": 2, "clock": "seconds"},
    "rule": {"kind": "swift_adaptive"},
}
EDGES = np.array([[0, 1], [1, 2]])
TOPOLOGY, SPEEDS = np.array([[0, 1], [1, 2], [2, 0], [2, 1]]), np.array([0.5, 1.0, 4.0])


@pytest.fixture(scope="module")
def data() -> ImageData:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (63, 4, 4, 1), dtype=np.uint8), np.arange(63) % 3
    return ImageData(x[:48], y[:48], x[48:], y[48:], ("a", "b", "c"), (0.5,), (0.25,), "")


def inputs_of(spec: dict[str, Any], data: ImageData) -> dict[str, Any]:
    shared = {"dataset": data, "partition": PARTITION}
    own = {
        "gossip": {"topology": EDGES, "availability": AVAILABLE},
        "server": {"availability": AVAILABLE},
        "events": {"topology": TOPOLOGY, "speeds": SPEEDS},
    }
    return shared | own[spec["engine"]]


def observed(spec: dict[str, Any], data: ImageData) -> tuple[int, int, pd.DataFrame]:
    """Batches, evaluated images and metrics of a run that is really played."""
    torch.set_num_threads(1)
    steps = images = 0
    portion, measure = Feed.portion, local_trainer.measure

    def count_batches(*arguments: Any) -> Any:
        nonlocal steps
        found = portion(*arguments)
        steps += len(found.batches)
        return found

    def count_images(model: Any, rows: Any, load: Any, x: Any, y: Any, chosen: Any, at_once: int) -> Any:
        nonlocal images
        images += len(rows) * len(chosen)
        return measure(model, rows, load, x, y, chosen, at_once)

    engine = {"gossip": gossip, "server": server, "events": events}[spec["engine"]]
    links = {"links": np.full(len(TOPOLOGY), 0.3)} if spec["engine"] == "events" else {}
    with patch.object(Feed, "portion", count_batches), patch.object(local_trainer, "measure", count_images):
        played = {**inputs_of(spec, data), **links}
        metrics = engine.run(spec, **played, report=lambda *_: None, device="cpu")
    return steps, images, metrics


@pytest.mark.parametrize(
    "spec",
    [
        GOSSIP,
        {**GOSSIP, "returning": "only_mixes", "order": "mix_then_train"},
        {**GOSSIP, "returning": "only_trains", "evaluation": {"every": 1}, "training": EPOCHS},
        SERVER,
        {**SERVER, "evaluation": {**SERVER["evaluation"], "train_images": None}, "training": EPOCHS},
        {**SERVER, "rule": {"kind": "mifa"}, "evaluation": {"every": 3, "last": 0, "train_images": 100}},
        EVENTS,
        {**EVENTS, "horizon": 7, "training": {**EPOCHS, "unit": "batches", "optimiser": "adam"}},
        {**EVENTS, "horizon": 20, "evaluation": {"every": 4, "clock": "events"}},
    ],
)
def test_counted_work_is_what_a_run_does(data: ImageData, spec: dict[str, Any]) -> None:
    work = count(spec, inputs_of(spec, data))
    steps, images, metrics = observed(spec, data)
    assert (work.steps, work.images) == (steps, images)
    assert len(metrics) <= work.values <= (1 if spec["engine"] == "gossip" else 1.5) * len(metrics)


def test_counted_by_hand(data: ImageData) -> None:
    # 11 trainings of 2 batches; after round 4 all have changed, after round 6 too: 15 images each time; 10 times a
    # client mixes, and in rounds 1, 4 and 6 with 1, 1 and 2 pairs of neighbours
    gossip_values = 3 * 6 * 4 + 2 * (10 + 5) + 2 * 2 * 4
    assert count(GOSSIP, inputs_of(GOSSIP, data)) == Work(20, 30, 6, 10 + 2 * (1 + 1 + 2), gossip_values)
    # 10 trainings of 3 batches; after rounds 4, 5 and 6 all 15 test images and 20 others
    assert count(SERVER, inputs_of(SERVER, data)) == Work(30, 3 * 35, 6, 10, 6 + 6 * 3 + 2)
    # activations at 0, 0.5, …, 6 (13), at 0, 1, …, 6 (7), at 0 and 4 (2); two epochs of 4, 1 and 2 batches (7 and 11
    # images: a batch of 7, and of 8 and 3); three evaluations of three models; in-neighbours: 1, 2 and 1
    assert count(EVENTS, inputs_of(EVENTS, data)) == Work(
        2 * (13 * 4 + 7 * 1 + 2 * 2), 3 * 3 * 15, 22, 13 * 2 + 7 * 3 + 2 * 2, 3 * 17
    )


def planned(study: str, **changes: Any) -> tuple[Plan, str]:
    """A plan of one run of a study on CIFAR-10, and the path of its availability."""
    spec = {
        "sfg": {
            **GOSSIP,
            "topology": {"kind": "ring"},
            "partition": {"kind": "dirichlet", "alpha": 1, "test_images": 5},
        },
        "fedswe": {**SERVER, "partition": {"kind": "dirichlet_common_test", "alpha": 0.1}},
    }[study]
    spec = {**spec, "study": study, "dataset": {"kind": "cifar10"}, **changes}
    plan = Plan()
    return plan, plan.runs[add_run(plan, sources(CATALOG, {}), spec)].inputs["availability"]


BASE = {"kind": "label_mix", "labels": "drawn"}
INDEPENDENT = {"kind": "independent", "probability": {"kind": "stationary", "base": BASE}}
TRACE = {
    **{"kind": "trace", "trace": {"kind": "flash_matrix"}, "unknown": "offline", "start_slot": 48},
    **{"min_coverage": 0, "drop_never_online": False, "replacement": "when_needed"},
}


def test_inputs_are_drawn_before_there_are_data(tmp_path: Path) -> None:
    plan, path = planned("fedswe", availability=INDEPENDENT, clients=20, rounds=500)
    inputs = Inputs(plan, tmp_path / "results", tmp_path / "scratch")
    found = inputs.find(path)
    assert found
    assert availabilities.load(found).shape == (500, 20)
    assert not (tmp_path / "results").exists()
    (partition,) = [path for path, made in plan.inputs.items() if made.what == "partition"]
    there = inputs.find(partition)
    assert there
    assert sum(map(len, partitions.load(there).train)) == 50_000


def test_inputs_that_are_made_are_used(tmp_path: Path) -> None:
    plan, path = planned("fedswe", availability=INDEPENDENT)
    made = tmp_path / "results" / path
    made.parent.mkdir(parents=True)
    availabilities.save(made, AVAILABLE)
    assert Inputs(plan, tmp_path / "results", tmp_path / "scratch").find(path) == made


def test_a_trace_that_is_not_there_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan, path = planned("sfg", availability=TRACE)
    assert Inputs(plan, Path("results"), tmp_path / "scratch").find(path) is None
    # two phones by turns
    (tmp_path / "resources" / "flash_matrix").mkdir(parents=True)
    np.save(tmp_path / "resources" / "flash_matrix" / "availability_matrix.npy", np.eye(2)[np.arange(241) % 2])
    assert Inputs(plan, Path("results"), tmp_path / "second").find(path)


def test_the_catalog_has_the_published_numbers_of_images() -> None:
    entries = read_yaml(CATALOG)
    for published in (cifar10.CIFAR10, cifar100.CIFAR100, cinic10.CINIC10, emnist.EMNIST, svhn.SVHN):
        name = "emnist" if "EMNIST" in published.name else published.name.lower().replace("-", "")
        found = {**entries[name]["images"], "shape": tuple(entries[name]["images"]["shape"])}
        expected = {"shape": published.shape, "classes": len(published.classes)}
        assert found == {**expected, "train": published.train, "test": published.test}
    found = entries["femnist"]["images"]
    assert (tuple(found["shape"]), found["classes"]) == (femnist.SHAPE, len(femnist.CLASSES))
    assert found["train"] + found["test"] == femnist.IMAGES


def test_models_held_at_once() -> None:
    assert (
        row_length({"kind": "mlp", "hidden": [256, 256], "dropout": 0.1}, {"shape": [28, 28, 1], "classes": 47})
        == 279_343
    )
    assert row_length({"kind": "resnet18"}, {"shape": [32, 32, 3], "classes": 10}) == 11_173_962 + 9_600
    assert rows(GOSSIP) == 3
    assert rows(SERVER) == 2 * 3
    assert rows({**SERVER, "rule": {"kind": "mifa"}}) == 2 * 3 + 3
    assert rows({**EVENTS, "training": {**EPOCHS, "optimiser": "adam"}}) == 3 * 7


SECTION = {
    **{"device": "a CPU", "torch": "2.11", "date": "2026-01-01", "job_s": 2, "run_s": 0.5},
    **{"turn_ms": {"gossip": 1}, "number_ns": {"gossip": 0.1}},
    "networks": [{**kind(GOSSIP, DIGITS), "step_ms": 10, "image_ms": 0.5, "memory_mb": 600}],
}


def test_recorded_costs_give_seconds(tmp_path: Path) -> None:
    own, ours = tmp_path / "own.yaml", tmp_path / "ours.yaml"
    ours.write_text(yaml.safe_dump({"cpu": SECTION, "cuda": {**SECTION, "job_s": 3}}))
    own.write_text(yaml.safe_dump({"cpu": {**SECTION, "job_s": 1}}))
    found = machine("cpu", (own, ours))
    assert found
    assert found.job == 1
    seconds = found.seconds(kind(GOSSIP, DIGITS), Work(steps=100, images=200, turns=30, rows=40, values=0), 10**6)
    assert seconds == pytest.approx(0.5 + 100 * 0.01 + 200 * 0.0005 + 30 * 0.001 + 40 * 10**6 * 1e-10)
    on_gpu = machine("cuda", (own, ours))
    assert on_gpu
    assert on_gpu.job == 3
    assert machine("cpu", (tmp_path / "none.yaml",)) is None


def test_a_network_without_recorded_cost_is_named(tmp_path: Path) -> None:
    file = tmp_path / "costs.yaml"
    file.write_text(yaml.safe_dump({"cpu": SECTION}))
    found = machine("cpu", (file,))
    assert found
    other = {**GOSSIP, "model": {"kind": "cnn", "channels": [], "hidden": [5]}}
    with pytest.raises(
        ConfigError, match=r"costs\.yaml: no recorded cost .* hidden \[5\]\) on images of 8×8×1 .*make costs"
    ):
        found.cost(kind(other, DIGITS))


def test_damaged_costs_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "costs.yaml"
    file.write_text(yaml.safe_dump({"cpu": {**SECTION, "job_s": -1}}))
    with pytest.raises(ConfigError, match=r"costs\.yaml: cpu\.job_s"):
        machine("cpu", (file,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the configuration, to be estimated in."""
    shutil.copytree(REPOSITORY / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["outagefl", "estimate", *arguments])
    main()


ONE = "overrides={dflaa: {seeds: 2, experiments: {audit: null, reception_rate: null}}}"


def test_the_command_tells_what_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    arguments = ["--cores", "2", "--json", "--config", "scale=quick", "studies=[dflaa]", "device=cpu", ONE]
    command(monkeypatch, *arguments)
    found = json.loads(capsys.readouterr().out)
    missing = found["missing"]
    assert missing == found["everything"]
    assert missing["dflaa"]["runs"] == missing["in all"]["runs"] == 32
    assert missing["dflaa"]["jobs"] == 2
    assert missing["in all"]["seconds"]["cpu"] > missing["dflaa"]["seconds"]["cpu"] > 0
    assert missing["dflaa"]["seconds"]["cuda"] is None
    assert found["downloads"] == {}
    command(monkeypatch, *(each for each in arguments if each != "--json"))
    told = capsys.readouterr().out
    assert "on 2 cores" in told
    assert "GPU times are unknown until `make costs" in told
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "studies=[dflab]"], "did you mean 'dflaa'"),
        (["--config", "studies=[dflaa]", ONE, "scale"], "'scale' is no key=value"),
        (["--config", "scale=[quick"], "scale: not valid YAML"),
        (["--cores", "0"], "--cores 0: expected all or a number above 0"),
        (
            [
                *("--config", "studies=[dflaa]"),
                ONE.replace("seeds: 2", "seeds: 2, named: {model: {mlp_digits: {kind: mlp, hidden: [25]}}}"),
            ],
            r"no recorded cost of the network mlp (hidden [25]) on images of 8×8×1",
        ),
    ],
)
def test_a_mistake_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        command(monkeypatch, *arguments)
    assert message in str(stopped.value)
    assert str(stopped.value).startswith("outagefl: ")
    assert "\n" not in str(stopped.value)


def test_durations_in_words() -> None:
    seconds = [0.04, 59, 61, 5399, 5400, 71 * 3600, 72 * 3600, 4e7, None]
    expected = ["0.04 s", "59 s", "1 min", "90 min", "1.5 h", "71 h", "3 days", "463 days", "unknown"]
    assert list(map(text.duration, seconds)) == expected


def test_wall_time_is_at_least_the_longest_job() -> None:
    part = {"seconds": {"cpu": 100.0, "cuda": None}, "longest": {"cpu": 40.0, "cuda": None}}
    assert [text.wall(part, "cpu", cores) for cores in (1, 2, 4)] == [100, 50, 40]
    assert text.wall(part, "cuda", 4) is None
