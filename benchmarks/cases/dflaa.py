"""The DFL-AA study end to end: training, lossy messages, aggregation, evaluation, in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from cases.inputs import CIFAR10, EMNIST, as_row, even_partition, image_flops, load_row, random_data, step_flops
from harness import Case
from outagefl.engines import events
from outagefl.inputs.channel import bernoulli
from outagefl.inputs.speeds import classes as speed_classes
from outagefl.inputs.topology import directed_complete, directed_erdos_renyi
from outagefl.randomness import generator
from outagefl.training.initial import initial_model
from reference import events as reference
from reference.data import Images, loader, transform
from reference.networks import Mlp, ResidualCnn

RULE = {"kind": "dflaa", "tau": 5, "beta": 0.05, "c_min": 0.1, "q_floor": 0.05, "update_on": "reception"}
SGD: dict[str, Any] = {"optimiser": "sgd", "momentum": 0.9, "learning_rate": 0.01, "weight_decay": 0.0005}
ADAM: dict[str, Any] = {"optimiser": "adam", "learning_rate": 0.001}


@dataclass(frozen=True)
class Setting:
    """A network of nodes with the same number of images each."""

    kind: tuple[tuple[int, int, int], int]
    model: dict[str, Any]
    naive_model: Callable[[], nn.Module]
    optimiser: dict[str, Any]
    nodes: int
    images: int
    test: int
    horizon: float
    edges: NDArray[np.int64]
    loss: float = 0.1
    steps: int = 3
    batch_size: int = 64

    def speeds(self) -> NDArray[np.float64]:
        """Seconds between a node's activations."""
        if self.nodes < 3:
            return np.ones(self.nodes)
        return speed_classes.seconds(self.nodes, np.random.default_rng(0), intervals=[0.5, 1.0, 2.0])

    def activations(self) -> int:
        """How many there are up to the horizon."""
        return int(sum(self.horizon // self.speeds() + 1))


class Both:
    """Inputs that both get."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        shape, classes = setting.kind
        self.data = random_data(shape, classes, setting.nodes * setting.images, setting.test)
        self.partition = even_partition(self.data, setting.nodes)
        module = initial_model(setting.model, shape, classes, 0, scheme="pytorch")
        self.row = as_row(module)

    def spec(self) -> dict[str, Any]:
        """The run as outagefl knows it."""
        s = self.setting
        training = {"steps": s.steps, "unit": "batches", "batch_size": s.batch_size, "order": "whole_epochs"}
        return {
            "clients": s.nodes,
            "seed": 0,
            "horizon": s.horizon,
            "model": s.model,
            "init": "pytorch",
            "training": {**training, **s.optimiser},
            "rule": RULE,
            "evaluation": {"every": s.horizon, "clock": "seconds"},
            "exchange": "all",
            "channel": {"kind": "bernoulli"},
            "chunk": reference.CHUNK,
            "fill_at": "aggregation",
        }

    def ours(self) -> pd.DataFrame:
        """One run; its metrics."""
        s = self.setting
        links = np.full(len(s.edges), s.loss)
        return events.run(
            self.spec(), self.data, self.partition, s.edges, links, s.speeds(), lambda *_: None, device="cpu"
        )

    def naive(self, losses: reference.Losses | None = None) -> list[list[tuple[float, float]]]:
        """One run; accuracy and loss of every node at every evaluation."""
        s = self.setting
        chain = transform(self.data.mean, self.data.std, augment=False)
        train, test = (
            Images(self.data.x_train, self.data.y_train, chain),
            Images(self.data.x_test, self.data.y_test, chain),
        )
        nodes = [self._node(node, train) for node in range(s.nodes)]
        loaded = torch.utils.data.DataLoader(test, batch_size=256)
        losses = losses or reference.bernoulli(s.loss)
        return reference.play(nodes, s.horizon, s.horizon, losses, loaded, lambda node: node.train(s.steps))

    def _node(self, node: int, train: Images) -> reference.Node:
        s = self.setting
        model = s.naive_model()
        load_row(model, self.row)
        options = {**s.optimiser, "lr": s.optimiser["learning_rate"]}
        kind = torch.optim.Adam if options.pop("optimiser") == "adam" else torch.optim.SGD
        del options["learning_rate"]
        batches = loader(train, self.partition.train[node], s.batch_size, drop_last=False)
        targets = s.edges[s.edges[:, 0] == node, 1].tolist()
        return reference.Node(
            node, model, kind(model.parameters(), **options), batches, float(s.speeds()[node]), targets
        )


MLP: dict[str, Any] = {"kind": "mlp", "hidden": [256, 256], "dropout": 0.1}
CNN: dict[str, Any] = {"kind": "residual_cnn", "channels": [64, 128, 128], "hidden": [256], "dropout": 0.2}


def graph(nodes: int) -> NDArray[np.int64]:
    """A random graph of mean degree 4; of few nodes all edges."""
    rng = np.random.default_rng(0)
    if nodes < 6:
        return directed_complete.edges(nodes, rng)
    return directed_erdos_renyi.edges(nodes, rng, degree=4, cycle=False)


def _case(setting: Setting, what: str) -> Case:
    both, network, shape = Both(setting), setting.naive_model(), setting.kind[0]
    training = setting.activations() * setting.steps * step_flops(network, shape, setting.batch_size)
    evaluation = setting.nodes * setting.test * image_flops(network, shape)
    return Case(what, both.naive, both.ours, "gemm", training + evaluation)


def mlp(test: int = 1200) -> Case:
    """Training and evaluation in the study's proportion: 1,100 activations and 18,800 images every 50 seconds."""
    setting = Setting(EMNIST, MLP, Mlp, ADAM, nodes=20, images=5640, test=test, horizon=2.5, edges=graph(20))
    what = f"DFL-AA MLP end to end, 20 nodes, {setting.activations()} activations, evaluation on {test:,} images"
    return _case(setting, what)


def mlp_hardly_evaluated() -> Case:
    """The same without an evaluation to speak of, where a reference that transforms every image anew loses most."""
    return mlp(test=1)


def cnn() -> Case:
    """One activation of each of two nodes: a step takes seconds."""
    setting = Setting(CIFAR10, CNN, ResidualCnn, SGD, nodes=2, images=2500, test=64, horizon=0.5, edges=graph(2))
    return _case(setting, "DFL-AA CNN end to end, 2 nodes, an activation each, evaluation on 64 images")


def check() -> str:
    """With a batch for all images, no dropout and the same chunks lost, both measure the same."""
    told = []
    for kind, model, naive_model, optimiser in (
        (EMNIST, {**MLP, "dropout": 0}, lambda: Mlp(dropout=0), ADAM),
        (CIFAR10, {**CNN, "dropout": 0}, lambda: ResidualCnn(dropout=0), SGD),
    ):
        heavy = kind is CIFAR10
        nodes, images = (3, 4) if heavy else (6, 60)
        setting = Setting(kind, model, naive_model, optimiser, nodes, images, 50, 2.0, graph(nodes), 0.3)
        both, sent = Both(setting), Counter[tuple[int, int]]()

        def losses(chunks: int, sender: int, receiver: int, sent: Counter[tuple[int, int]] = sent) -> Sequence[bool]:
            rng = generator(0, "channel", sender, receiver, sent[sender, receiver])
            sent[sender, receiver] += 1
            return list(bernoulli.received(chunks, 0.3, rng))

        table = both.ours()
        naive = np.array(both.naive(losses)[-1]).T
        for metric, found in zip(("accuracy", "loss"), naive, strict=True):
            ours = table[(table["metric"] == metric) & (table["client"] >= 0)]["value"].to_numpy()
            np.testing.assert_allclose(found, ours, rtol=1e-3, atol=0.021)
        told.append(f"{model['kind']}: losses {naive[1].mean():.4f} and {ours.mean():.4f}")
    return "; ".join(told)
