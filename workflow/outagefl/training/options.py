"""How clients train: the entry ``training`` of a run spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outagefl.errors import ConfigError, unknown
from outagefl.training.optimisers import Adam, Optimiser, Sgd
from outagefl.training.precision import PRECISIONS

SCHEDULES: dict[str, Callable[[int], float]] = {
    "constant": lambda _: 1.0,
    "inverse_sqrt": lambda t: (t / 10 + 1) ** -0.5,
}
ORDERS = ("fresh", "persistent", "whole_epochs")
UNITS = ("batches", "epochs")
AUGMENTATIONS = ("none", "image", "batch")
OPTIMISERS = ("sgd", "adam")


@dataclass(frozen=True)
class TrainingOptions:
    """Local training and its variations.

    steps: how much a client trains in a round, in batches or, if ``unit`` says so, in epochs of its images. schedule:
    the learning rate over the rounds, ``inverse_sqrt`` being the FedSWE paper's (its Table 5). clip_norm: the largest
    norm of the gradient of a step, None for any. order: how images are drawn, see ``training.batches``. augmentation:
    random crop of training images, with a random flip if ``flip``, see ``training.images``. optimiser: ``sgd``, with
    ``momentum`` and ``nesterov`` if wanted, or ``adam``; both take ``weight_decay``, see ``training.optimisers``.
    precision: the arithmetic of the steps, see ``training.precision``. ConfigError for an unknown name and for options
    that do not go together.
    """

    steps: int
    batch_size: int
    learning_rate: float
    schedule: str = "constant"
    clip_norm: float | None = None
    order: str = "fresh"
    augmentation: str = "none"
    flip: bool = True
    unit: str = "batches"
    optimiser: str = "sgd"
    momentum: float = 0
    nesterov: bool = False
    weight_decay: float = 0
    precision: str = "float32"

    def __post_init__(self) -> None:
        for option, valid in (
            ("schedule", SCHEDULES),
            ("order", ORDERS),
            ("augmentation", AUGMENTATIONS),
            ("unit", UNITS),
            ("optimiser", OPTIMISERS),
            ("precision", PRECISIONS),
        ):
            name = getattr(self, option)
            if name not in valid:
                raise ConfigError(f"training.{option}: {unknown(option, name, valid)}")
        if self.unit == "epochs" and self.order == "fresh":
            raise ConfigError("training.unit: epochs given, but a fresh order has none (expected another order)")
        if self.optimiser == "adam" and self.momentum:
            raise ConfigError(f"training.momentum: {self.momentum} given, but adam takes none (expected 0)")
        if self.nesterov and not self.momentum:
            raise ConfigError("training.nesterov: true given without a momentum above 0")

    def step_size(self, round_number: int) -> float:
        """The learning rate of a round; rounds count from 1, the schedules' t from 0."""
        return self.learning_rate * SCHEDULES[self.schedule](round_number - 1)

    def make_optimiser(self) -> Optimiser:
        """The optimiser that the options name."""
        if self.optimiser == "adam":
            return Adam(self.weight_decay)
        return Sgd(self.momentum, self.nesterov, self.weight_decay)
