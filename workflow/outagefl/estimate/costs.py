"""What training was measured to cost on a machine (``benchmarks/costs.py``), and what that makes of a run's work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outagefl.config import check, read_yaml
from outagefl.errors import ConfigError
from outagefl.estimate.work import Work
from outagefl.runs.expand import canonical
from outagefl.training.options import TrainingOptions

FILES = (Path("results/costs.yaml"), Path("config/costs.yaml"))  # this machine's own, those of the repository


def optimiser(options: TrainingOptions) -> str:
    """What a step's cost depends on: ``sgd``, ``sgd with momentum`` or ``adam``."""
    return f"{options.optimiser} with momentum" if options.momentum else options.optimiser


def kind(spec: Mapping[str, Any], images: Mapping[str, Any]) -> dict[str, Any]:
    """What the costs of a step and of an evaluated image are recorded for; ``images``: shape and classes."""
    options = TrainingOptions(**spec["training"])
    return {
        "engine": spec["engine"],
        "images": list(images["shape"]),
        "classes": images["classes"],
        "model": dict(spec["model"]),
        "batch_size": options.batch_size,
        "optimiser": optimiser(options),
        "augmentation": options.augmentation,
    }


@dataclass(frozen=True)
class Cost:
    """One kind of training on a machine: seconds a step, seconds an evaluated image, memory of a job in MB."""

    step: float
    image: float
    memory: float


class Machine:
    """One device's recorded costs: ``device`` and ``file`` they are from, and ``job``, the seconds of a start."""

    def __init__(self, section: Mapping[str, Any], file: Path) -> None:
        self.device = f"{section['device']}, torch {section['torch']}, {section['date']}"
        self.file, self.job = file, section["job_s"]
        self._run, self._turn, self._number = section["run_s"], section["turn_ms"], section["number_ns"]
        measured = ("step_ms", "image_ms", "memory_mb")
        self._costs = {
            canonical({key: value for key, value in each.items() if key not in measured}): Cost(
                each["step_ms"] / 1e3, each["image_ms"] / 1e3, each["memory_mb"]
            )
            for each in section["networks"]
        }

    def knows(self, kind: Mapping[str, Any]) -> bool:
        """Whether a kind of training was measured."""
        return canonical(kind) in self._costs

    def cost(self, kind: Mapping[str, Any]) -> Cost:
        """What a kind of training costs; ConfigError if it was not measured."""
        if not self.knows(kind):
            network = ", ".join(f"{key} {value}" for key, value in kind["model"].items() if key != "kind")
            shape = "×".join(map(str, kind["images"]))
            others = ", ".join(f"{key} {kind[key]}" for key in ("engine", "batch_size", "optimiser", "augmentation"))
            raise ConfigError(
                f"{self.file}: no recorded cost of the network {kind['model']['kind']} ({network}) on images of "
                f"{shape} in {kind['classes']} classes with {others}; `make costs` with the same SCALE, LOCAL and "
                "CONFIG measures it on this machine"
            )
        return self._costs[canonical(kind)]

    def seconds(self, kind: Mapping[str, Any], work: Work, length: int) -> float:
        """The time of a run; ``length``: the numbers of its model."""
        cost, engine = self.cost(kind), kind["engine"]
        training = work.steps * cost.step + work.images * cost.image
        exchange = work.turns * self._turn[engine] / 1e3 + work.rows * length * self._number[engine] / 1e9
        return float(self._run + training + exchange)


def machine(device: str, files: Sequence[Path] = FILES) -> Machine | None:
    """The costs on ``cpu`` or ``cuda`` in the first of the files that has them; None if none has."""
    for file in files:
        if file.exists():
            content = read_yaml(file)
            check(content, "costs", str(file))
            if device in content:
                return Machine(content[device], file)
    return None
