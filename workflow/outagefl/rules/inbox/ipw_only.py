"""DFL-AA without its age discount: inverse probability weighting alone (DFL-AA paper, IV-A)."""

from __future__ import annotations

from outagefl.rules.age_and_reception import inverse_rates, shares, unknown_rates
from outagefl.rules.inbox_view import Floats, InboxView, Memory


def memory(nodes: int, *, beta: float, c_min: float, q_floor: float, update_on: str) -> Memory:
    """The estimates q̂_ij of every link's reception rate, (n, n)."""
    return unknown_rates(nodes, update_on)


def weights(view: InboxView, memory: Memory, *, beta: float, c_min: float, q_floor: float, update_on: str) -> Floats:
    """a_j / (1 + Σ a_j) with a_j = 1 / max(q̂_ij, q_floor), options as of ``dflaa``."""
    inverse = inverse_rates(view, memory, beta=beta, c_min=c_min, q_floor=q_floor, update_on=update_on)
    return shares(inverse, view.completeness >= c_min)
