"""DFL-AA without inverse probability weighting: its age discount alone (DFL-AA paper, IV-A)."""

from __future__ import annotations

from outagefl.rules.age_and_reception import discount, shares
from outagefl.rules.inbox_view import Floats, InboxView, Memory, nothing

memory = nothing


def weights(view: InboxView, memory: Memory, *, tau: float, c_min: float) -> Floats:
    """a_j / (1 + Σ a_j) with a_j = exp(−AoI_j / τ), options as of ``dflaa``."""
    return shares(discount(view, tau), view.completeness >= c_min)
