"""How much memory a job takes and how much disk results take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from math import prod
from typing import Any

import torch

from outagefl import components
from outagefl.runs.expand import canonical
from outagefl.runs.plan import Input
from outagefl.training.options import TrainingOptions

FLOAT = 4  # bytes
METRIC, RECORD = 3, 10_000  # bytes: of a row of metrics, compressed; of a run beside these, most of it in run.json


def row_length(model: Mapping[str, Any], images: Mapping[str, Any]) -> int:
    """d, the numbers of a network's row: its parameters and running statistics; ``images``: shape and classes."""
    return _row_length(canonical(model), tuple(images["shape"]), images["classes"])


@cache
def _row_length(model: str, shape: tuple[int, int, int], classes: int) -> int:
    build, options = components.load("model", json.loads(model))
    with torch.device("meta"):
        module = build(shape, classes, **options)
    tensors = [*module.parameters(), *module.buffers()]
    return int(sum(tensor.numel() for tensor in tensors if tensor.is_floating_point()))


def rows(spec: Mapping[str, Any]) -> int:
    """How many models a run holds at once, optimisers' states and copies counted as such."""
    return ROWS[spec["engine"]](spec)


def _gossip_rows(spec: Mapping[str, Any]) -> int:
    return int(spec["clients"])


def _server_rows(spec: Mapping[str, Any]) -> int:
    """What the rule remembers, and what everyone online starts from and has trained."""
    step, options = components.load("server rule", spec["rule"])
    one = torch.empty(1, device="meta")
    kept = import_module(step.__module__).memory(spec["clients"], one, **options)
    return int(2 * spec["clients"] + sum(tensor.numel() for tensor in kept.values()))


def _events_rows(spec: Mapping[str, Any]) -> int:
    """A node's model, optimiser, trained model and message, and two for the distance from the mean."""
    return int(spec["clients"] * (5 + TrainingOptions(**spec["training"]).make_optimiser().state_size))


ROWS = {"gossip": _gossip_rows, "server": _server_rows, "events": _events_rows}


def data_bytes(images: Mapping[str, Any]) -> int:
    """A prepared data set, which jobs map into memory."""
    return int((images["train"] + images["test"]) * (prod(images["shape"]) + 16))


def input_bytes(made: Input, images: Mapping[str, Any] | None) -> int:
    """The file of an input; ``images``: those of a data set. Graphs and the like, mere kilobytes, count as nothing."""
    cells = made.spec.get("rounds", 0) * made.spec.get("clients", 0)
    size = {"availability": cells, "probability": 8 * cells}
    return data_bytes(images) if images else size.get(made.what, 0)
