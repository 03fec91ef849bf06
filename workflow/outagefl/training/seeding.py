"""Named randomness for torch's own draws."""

from __future__ import annotations

from outagefl.randomness import sequence


def torch_seed(seed: int, purpose: str, *ids: int) -> int:
    """What seeds a torch generator for one purpose, see ``outagefl.randomness``."""
    return int(sequence(seed, purpose, *ids).generate_state(1, "uint64")[0])
