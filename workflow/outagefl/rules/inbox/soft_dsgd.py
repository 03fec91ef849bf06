"""Soft-DSGD (Ye, Liang & Li, IEEE JSTSP 2022), with uniform weights as in the DFL-AA paper, VI."""

from __future__ import annotations

from outagefl.rules.inbox_view import Floats, InboxView, Memory, evenly, nothing

memory = nothing


def weights(view: InboxView, memory: Memory, *, over: str) -> Floats:
    """The same weight for i and for every entry, filled locally.

    ``over``: see ``InboxView.counted``. With ``out_neighbours`` (released code) a message from a node that i does not
    send to weighs nothing.
    """
    return evenly(view.counted(over))
