"""The initial model of a run, drawn from the run's own randomness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from outagefl import components
from outagefl.errors import ConfigError, unknown
from outagefl.training.seeding import seeded, torch_seed

SCHEMES = ("kaiming", "pytorch")


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


def initialise_head(module: nn.Module, generator: torch.Generator) -> None:
    """PyTorch's default for the last linear layer: weights and biases uniform within ±1/√fan_in."""
    head = [layer for layer in module.modules() if isinstance(layer, nn.Linear)][-1]
    bound = head.in_features**-0.5
    nn.init.uniform_(head.weight, -bound, bound, generator=generator)
    nn.init.uniform_(head.bias, -bound, bound, generator=generator)


def initial_model(
    settings: Mapping[str, Any],
    image_shape: tuple[int, int, int],
    classes: int,
    seed: int,
    head: str = "kaiming",
    scheme: str = "kaiming",
) -> nn.Module:
    """The network of a spec's ``model`` entry on the CPU, the same for every method of a seed.

    ``scheme``: how it starts, see ``initialise`` (``kaiming``), or as PyTorch's and torchvision's constructors leave it
    (``pytorch``), as in the released code of the DFL-AA paper. ``head``: under ``kaiming`` the last linear layer starts
    as all others do or as PyTorch leaves it (``pytorch``), as in the released code of the FedSWE paper; the other
    layers are the same under both. ConfigError for another name.
    """
    for option, name in (("head_init", head), ("init", scheme)):
        if name not in SCHEMES:
            raise ConfigError(f"{option}: {unknown('initialisation', name, SCHEMES)}")
    build, options = components.load("model", settings)
    drawn = torch_seed(seed, "init")
    module: nn.Module
    if scheme == "pytorch":
        with seeded(drawn, torch.device("cpu")):
            module = build(image_shape, classes, **options)
        return module
    with torch.device("meta"):  # torch's layers would otherwise draw from the global generator
        module = build(image_shape, classes, **options)
    module.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(drawn)
    initialise(module, generator)
    if head == "pytorch":
        initialise_head(module, generator)
    return module
