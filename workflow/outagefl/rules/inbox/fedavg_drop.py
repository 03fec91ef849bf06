"""FedAvg that drops incomplete models (McMahan et al., AISTATS 2017; decentralised as in the DFL-AA paper, VI)."""

from __future__ import annotations

import numpy as np

from outagefl.errors import ConfigError, unknown
from outagefl.rules.inbox_view import Floats, InboxView, Memory, evenly, nothing

LOSSY = ("complete", "none")

memory = nothing


def weights(view: InboxView, memory: Memory, *, over: str, if_lossy: str) -> Floats:
    """The same weight for i and for every complete message, c_j = 1.

    ``over``: see ``InboxView.counted``. ``if_lossy``: what is taken in a run in which any link loses chunks: what is
    ``complete`` (the paper), or ``none`` (the released code, which then trains locally only).
    """
    if if_lossy not in LOSSY:
        raise ConfigError(f"if_lossy: {unknown('choice', if_lossy, LOSSY)}")
    complete = view.counted(over) & (view.completeness == 1)
    return evenly(np.zeros_like(complete) if view.lossy and if_lossy == "none" else complete)
