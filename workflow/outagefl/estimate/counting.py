"""What each run of a plan takes: time by device, memory, disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from outagefl.estimate import sizes
from outagefl.estimate.costs import Machine, kind
from outagefl.estimate.inputs import Inputs, published_images
from outagefl.estimate.work import NEEDS, Work, count
from outagefl.runs.execute import LOAD
from outagefl.runs.expand import canonical
from outagefl.runs.plan import Plan, Run

# fields of a spec that change nothing about the work, beside those that only choose inputs
IDLE = (
    "seed",
    "rule",
    "model",
    "server_learning_rate",
    "head_init",
    "init",
    "evaluated",
    "channel",
    "chunk",
    "fill_at",
)


@dataclass(frozen=True)
class RunCost:
    """What one run takes: seconds by device (not where it was not measured), memory of its job in MB, bytes of disk.

    at_most: its availability follows a trace that is not here, and everybody was taken to be online.
    """

    seconds: dict[str, float]
    memory: float
    disk: int
    at_most: bool


class Counter:
    """Tells the cost of the runs of a plan; the work that runs have in common is counted once.

    Who is online is counted for each seed, who holds how many images, which takes long to draw, for the first alone.
    """

    def __init__(self, plan: Plan, inputs: Inputs, machines: Mapping[str, Machine]) -> None:
        self._plan, self._inputs, self._machines = plan, inputs, machines
        self._work: dict[str, tuple[Work, bool]] = {}
        self._first: dict[str, str] = {}  # setting of a partition → the first one of it

    def cost(self, run: Run) -> RunCost:
        """What a run takes; ConfigError if its kind of training was measured on no device."""
        spec, images = run.spec, self.images(run)
        work, at_most = self.work(run)
        length, training = sizes.row_length(spec["model"], images), kind(spec, images)
        knowing = {device: machine for device, machine in self._machines.items() if machine.knows(training)}
        measured = next(iter((knowing or self._machines).values())).cost(training)
        return RunCost(
            {device: machine.seconds(training, work, length) for device, machine in knowing.items()},
            measured.memory + (sizes.rows(spec) * length * sizes.FLOAT + sizes.data_bytes(images)) / 1e6,
            work.values * sizes.METRIC + sizes.RECORD,
            at_most,
        )

    def images(self, run: Run) -> dict[str, Any]:
        """Shape, classes and number of the images of a run's data set, as published."""
        return published_images(self._plan.sources[run.spec["dataset"]["kind"]])

    def work(self, run: Run) -> tuple[Work, bool]:
        """The work of a run, and whether it is only the most that it can be."""
        used = {what: run.inputs[what] for what in NEEDS[run.spec["engine"]]}
        made = self._plan.inputs[used["partition"]]
        setting = canonical([made.needs, {name: value for name, value in made.spec.items() if name != "seed"}])
        used["partition"] = self._first.setdefault(setting, used["partition"])
        key = canonical([used, {name: value for name, value in run.spec.items() if name not in IDLE}])
        if key not in self._work:
            found = {what: self._inputs.find(path) for what, path in used.items()}
            loaded = {what: LOAD[what](path) for what, path in found.items() if path}
            if at_most := len(loaded) < len(found):
                loaded["availability"] = np.ones((run.spec["rounds"], run.spec["clients"]), dtype=bool)
            self._work[key] = count(run.spec, loaded), at_most
        return self._work[key]
