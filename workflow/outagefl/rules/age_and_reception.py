"""The two factors of DFL-AA's weights, for the rule itself and for those with one factor alone (DFL-AA paper, IV)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from outagefl.errors import ConfigError, unknown
from outagefl.rules.inbox_view import Floats, InboxView, Memory

RECEPTION_RATES = "reception_rates"
"""Key of the estimates q̂_ij, float64 (n, n): row i the receiver, column j the sender, NaN before the first."""

UPDATES = ("reception", "aggregation")


def unknown_rates(nodes: int, update_on: str) -> Memory:
    """Nothing known about any link; ConfigError for an ``update_on`` that does not exist."""
    if update_on not in UPDATES:
        raise ConfigError(f"update_on: {unknown('time of update', update_on, UPDATES)}")
    return {RECEPTION_RATES: torch.full((nodes, nodes), torch.nan, dtype=torch.float64)}


def inverse_rates(
    view: InboxView, memory: Memory, *, beta: float, c_min: float, q_floor: float, update_on: str
) -> Floats:
    """1 / max(q̂_ij, q_floor), (k,), after q̂_ij ← (1 − β) q̂_ij + β c_j, which starts from the first c_j.

    ``update_on``: every message received since the last aggregation counts, whatever arrived of it (``reception``, the
    paper), or at each aggregation every inbox entry with c_j ≥ c_min, new or not (``aggregation``, the released code).
    """
    rates: Floats = memory[RECEPTION_RATES][view.receiver].numpy()
    entries = zip(view.senders.tolist(), view.completeness.tolist(), strict=True)
    observed = view.receptions if update_on == "reception" else [(j, c) for j, c in entries if c >= c_min]
    for sender, completeness in observed:
        before = rates[sender]
        rates[sender] = completeness if np.isnan(before) else (1 - beta) * before + beta * completeness
    return np.reciprocal(np.maximum(rates[view.senders], q_floor))


def discount(view: InboxView, tau: float) -> Floats:
    """exp(−AoI_j / τ), (k,), where AoI_j is how much older j's message is than the newest in the inbox.

    Every entry counts for the newest, also one too incomplete to be used. ``tau``: virtual seconds.
    """
    newest = view.generated_at.max(initial=-np.inf)
    discounts: Floats = np.exp((view.generated_at - newest) / tau)
    return discounts


def shares(scores: Floats, usable: NDArray[np.bool_]) -> Floats:
    """a_j / (1 + Σ_j a_j), (k,), with the ``scores`` a of the entries that are ``usable``, bool (k,), and 0 for others.

    The receiver's own score is 1 (6).
    """
    kept = np.where(usable, scores, 0.0)
    weights: Floats = kept / (1 + kept.sum())
    return weights
