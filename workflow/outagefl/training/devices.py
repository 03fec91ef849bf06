"""The device a run computes on."""

from __future__ import annotations

import torch

from outagefl.errors import ConfigError, unknown


def resolve(name: str) -> torch.device:
    """The device named ``cpu``, ``cuda`` or ``auto`` (the GPU where there is one); ConfigError if it cannot be had."""
    if name not in ("cpu", "cuda", "auto"):
        raise ConfigError(f"device: {unknown('device', name, ('cpu', 'cuda', 'auto'))}")
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise ConfigError("device: 'cuda' asked for, but torch finds no CUDA GPU here (use cpu or auto)")
    return torch.device("cuda" if available and name != "cpu" else "cpu")
