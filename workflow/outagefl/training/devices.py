"""The device a run computes on."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from outagefl.errors import ConfigError, unknown


def resolve(name: str) -> torch.device:
    """The device named ``cpu``, ``cuda`` or ``auto`` (the GPU where there is one); ConfigError if it cannot be had."""
    if name not in ("cpu", "cuda", "auto"):
        raise ConfigError(f"device: {unknown('device', name, ('cpu', 'cuda', 'auto'))}")
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise ConfigError("device: 'cuda' asked for, but torch finds no CUDA GPU here (use cpu or auto)")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def moved(array: NDArray[Any], device: torch.device) -> Tensor:
    """An array on the device, not copied for the CPU; from pinned memory, so that nobody waits for what a GPU does."""
    tensor = torch.from_numpy(array)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)
