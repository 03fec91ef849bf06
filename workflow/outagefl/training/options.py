"""How clients train: the entry ``training`` of a run spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outagefl.errors import ConfigError, unknown

SCHEDULES: dict[str, Callable[[int], float]] = {
    "constant": lambda _: 1.0,
    "inverse_sqrt": lambda t: (t / 10 + 1) ** -0.5,
}
ORDERS = ("fresh", "persistent")
AUGMENTATIONS = ("none", "image", "batch")


@dataclass(frozen=True)
class TrainingOptions:
    """Local SGD and its variations.

    schedule: the learning rate over the rounds, ``inverse_sqrt`` being the FedSWE paper's (its Table 5). clip_norm: the
    largest norm of the gradient of a step, None for any. order: how images are drawn, see ``training.batches``.
    augmentation: random crop of training images, with a random flip if ``flip``, see ``training.images``.
    ConfigError for an unknown name.
    """

    steps: int
    batch_size: int
    learning_rate: float
    schedule: str = "constant"
    clip_norm: float | None = None
    order: str = "fresh"
    augmentation: str = "none"
    flip: bool = True

    def __post_init__(self) -> None:
        for option, valid in (("schedule", SCHEDULES), ("order", ORDERS), ("augmentation", AUGMENTATIONS)):
            name = getattr(self, option)
            if name not in valid:
                raise ConfigError(f"training.{option}: {unknown(option, name, valid)}")

    def step_size(self, round_number: int) -> float:
        """The learning rate of a round; rounds count from 1, the schedules' t from 0."""
        return self.learning_rate * SCHEDULES[self.schedule](round_number - 1)
