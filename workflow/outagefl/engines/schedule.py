"""When a run is evaluated."""

from __future__ import annotations


def due(round_number: int, rounds: int, *, every: int, last: int = 0, last_every: int = 1) -> bool:
    """Whether to evaluate after round ``round_number`` (from 1): every ``every`` rounds, and after the last one.

    Within the ``last`` rounds every ``last_every`` rounds, counted back from the end, in addition.
    """
    left = rounds - round_number
    return round_number % every == 0 or left == 0 or (left < last and left % last_every == 0)
