"""Which runs can share a GPU: those of one setting, whose clients then train as one stack (``training.pack``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outagefl.runs.expand import canonical

OWN = ("learning_rate", "schedule")  # options of training that runs of one pack may each have of their own


def setting(spec: Mapping[str, Any]) -> str:
    """What runs of one pack have in common: engine, data set, network, and all of training but the learning rate."""
    training = {option: value for option, value in spec["training"].items() if option not in OWN}
    return canonical([spec["engine"], spec["dataset"], spec["model"], training])
