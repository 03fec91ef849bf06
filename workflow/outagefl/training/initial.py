"""The initial model of a run, drawn from the run's own randomness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from outagefl import components
from outagefl.randomness import sequence


def initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Kaiming-normal weights (fan-in, ReLU) and zero biases; normalisation layers get their neutral values."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.BatchNorm2d | nn.LayerNorm):
            layer.reset_parameters()
        elif next(layer.parameters(recurse=False), None) is not None:
            raise TypeError(f"no initialisation for layers of type {type(layer).__name__}")


def initial_model(settings: Mapping[str, Any], image_shape: tuple[int, int, int], classes: int, seed: int) -> nn.Module:
    """The network of a spec's ``model`` entry on the CPU, the same for every method of a seed.

    It is built without storage first, because torch's layers would otherwise draw from the global generator.
    """
    build, options = components.load("model", settings)
    with torch.device("meta"):
        module: nn.Module = build(image_shape, classes, **options)
    module.to_empty(device="cpu")
    initialise(module, torch.Generator().manual_seed(int(sequence(seed, "init").generate_state(1, "uint64")[0])))
    return module
