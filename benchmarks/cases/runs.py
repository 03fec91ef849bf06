"""Whole runs on random data, and where their time goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from cases.inputs import CIFAR10, even_partition, random_data
from outagefl.datasets.arrays import ImageData
from outagefl.engines import gossip, server
from outagefl.inputs.topology import random_regular
from outagefl.training.local_trainer import LocalTrainer

DIGITS = ((8, 8, 1), 10)
SMALL: dict[str, Any] = {"kind": "cnn", "channels": [16, 32], "hidden": [64]}  # of the scale quick
CNN: dict[str, Any] = {"kind": "cnn", "channels": [32, 32], "hidden": [256, 64]}  # of FedSWE, for CIFAR-10
TRAINING: dict[str, Any] = {"steps": 5, "batch_size": 32, "learning_rate": 0.05}  # of SFG


def gossip_spec(clients: int, rounds: int, model: dict[str, Any], **training: Any) -> dict[str, Any]:
    """A run of SFG that is evaluated every five rounds and in the last."""
    return {
        "study": "sfg",
        "engine": "gossip",
        "seed": 0,
        "clients": clients,
        "rounds": rounds,
        "order": "train_then_mix",
        "returning": "trains_and_mixes",
        "dataset": {"kind": "cifar10"},
        "partition": {"kind": "dirichlet", "alpha": 0.3, "test_images": 100},
        "topology": {"kind": "random_regular", "degree": 4},
        "availability": {"kind": "bernoulli", "probability": 1 / 3},
        "model": model,
        "training": {**TRAINING, **training},
        "rule": {"kind": "sfg", "gamma": 0.5},
        "evaluation": {"every": 5},
    }


def server_spec(clients: int, rounds: int, model: dict[str, Any], **training: Any) -> dict[str, Any]:
    """A run of FedSWE that is evaluated every five rounds and in the last."""
    return {
        "seed": 0,
        "clients": clients,
        "rounds": rounds,
        "model": model,
        "training": {**TRAINING, **training},
        "rule": {"kind": "fedswe", "k": clients, "innovation_clip": None},
        "server_learning_rate": 1.0,
        "head_init": "kaiming",
        "evaluated": "global",
        "evaluation": {"every": 5, "train_images": 1000},
    }


def regular(clients: int) -> NDArray[np.int64]:
    """A random graph with four neighbours each."""
    return random_regular.edges(clients, np.random.default_rng(0), degree=4)


def online(rounds: int, clients: int, share: float = 1 / 3) -> NDArray[np.bool_]:
    """Who is there: a share of the clients by independent draws, (rounds, clients)."""
    return np.random.default_rng(0).random((rounds, clients)) < share


def quiet(*_: object) -> None:
    """A report that nobody reads."""


Times = dict[str, float]


def _timed(spent: Times, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return work(*arguments, **options)
        finally:
            spent[part] = spent.get(part, 0) + time.process_time() - start

    return call


@contextmanager
def parts() -> Iterator[Times]:
    """Collects CPU seconds of rounds without their evaluation, and of training, mixing and evaluation."""
    spent: Times = {}
    watched = [(LocalTrainer, "train", "training"), (gossip, "mix", "mixing")]
    for engine in (gossip, server):
        watched += [(engine, "advance", "rounds"), (engine, "evaluate", "evaluation")]
    with ExitStack() as stack:
        for owner, name, part in watched:
            stack.enter_context(patch.object(owner, name, _timed(spent, part, getattr(owner, name))))
        yield spent


def overhead() -> dict[str, float]:
    """What engines take beside training, mixing and evaluation, in %.

    With a network and images so small that it shows most, and as the studies of SFG and, with fewer clients, FedSWE
    train. What happens once a run is not counted, nor a first run of one round, which holds what torch loads late.
    """
    small, large = (random_data(*DIGITS, 12_000, 3_000), random_data(*CIFAR10, 12_000, 3_000))
    fedswe = {"steps": 10, "batch_size": 128}
    return {
        "gossip, N = 300, 8×8 digits, %": _gossip(small, gossip_spec(300, 5, SMALL)),
        "gossip, N = 300, FedSWE CNN, %": _gossip(large, gossip_spec(300, 2, CNN)),
        "server, m = 300, 8×8 digits, %": _server(small, server_spec(300, 5, SMALL), share=1 / 3),
        "server, m = 100, FedSWE CNN, %": _server(large, server_spec(100, 2, CNN, **fedswe), share=0.1),
    }


def _gossip(data: ImageData, spec: dict[str, Any]) -> float:
    clients = spec["clients"]
    there, partition = online(spec["rounds"], clients), even_partition(data, clients)

    def run(rounds: int) -> None:
        gossip.run({**spec, "rounds": rounds}, data, partition, regular(clients), there[:rounds], quiet, "cpu")

    return _rest(run, spec["rounds"])


def _server(data: ImageData, spec: dict[str, Any], share: float) -> float:
    there, partition = online(spec["rounds"], spec["clients"], share), even_partition(data, spec["clients"])

    def run(rounds: int) -> None:
        server.run({**spec, "rounds": rounds}, data, partition, there[:rounds], quiet, "cpu")

    return _rest(run, spec["rounds"])


def _rest(run: Callable[[int], None], rounds: int) -> float:
    """Which share of the time of rounds and their evaluation is neither training nor mixing nor evaluation, in %."""
    run(1)
    with parts() as spent:
        run(rounds)
    beside = spent["rounds"] - spent["training"] - spent.get("mixing", 0)
    return 100 * beside / (spent["rounds"] + spent["evaluation"])
