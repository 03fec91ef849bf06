"""Named randomness for torch's own draws."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from outagefl.randomness import sequence


def torch_seed(seed: int, purpose: str, *ids: int) -> int:
    """What seeds a torch generator for one purpose, see ``outagefl.randomness``."""
    return int(sequence(seed, purpose, *ids).generate_state(1, "uint64")[0])


@contextmanager
def lent(device: torch.device) -> Iterator[None]:
    """Lend the device's global generator, to be reseeded at will; then put it back."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield


def reseed(seed: int, device: torch.device) -> None:
    """Seed the device's global generator, within ``lent``."""
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Lend the device's global generator, seeded, to layers that take no other, such as dropout; then put it back."""
    with lent(device):
        reseed(seed, device)
        yield
