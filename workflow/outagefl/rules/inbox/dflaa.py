"""DFL-AA: messages weighted by inverse reception rate and by age (DFL-AA paper, Algorithm 1)."""

from __future__ import annotations

from outagefl.rules.age_and_reception import discount, inverse_rates, shares, unknown_rates
from outagefl.rules.inbox_view import Floats, InboxView, Memory


def memory(nodes: int, *, tau: float, beta: float, c_min: float, q_floor: float, update_on: str) -> Memory:
    """The estimates q̂_ij of every link's reception rate, (n, n)."""
    return unknown_rates(nodes, update_on)


def weights(
    view: InboxView, memory: Memory, *, tau: float, beta: float, c_min: float, q_floor: float, update_on: str
) -> Floats:
    """a_j / (1 + Σ a_j) with a_j = exp(−AoI_j / τ) / max(q̂_ij, q_floor), (6); entries with c_j < c_min are skipped.

    ``beta``, ``update_on``: how q̂_ij is estimated (``age_and_reception.inverse_rates``). ``tau``: virtual seconds.
    """
    inverse = inverse_rates(view, memory, beta=beta, c_min=c_min, q_floor=q_floor, update_on=update_on)
    return shares(discount(view, tau) * inverse, view.completeness >= c_min)
