"""How a run is interrupted and goes on: all that an engine knows of it.

Draws come from seeds and counters, not from generators that go on, so a run's state is what it carries from one round
to the next and what it has measured.
"""

from __future__ import annotations

from typing import Any


class Checkpoint:
    """Where a run may leave its state. This one keeps nothing; ``outagefl.runs.checkpoints`` has one that does.

    began: the round that the run goes on from, 0 for one that starts from the beginning; known after ``resume``.
    """

    began = 0

    def resume(self, *classes: type) -> Any:
        """The state to go on from, as it was offered; None to start from the beginning. Called once, before round 1.

        ``classes``: those that a state is made of, beside tensors, arrays, numbers, texts, lists, tuples and mappings.
        """
        return None

    def offer(self, round_number: int, state: object) -> None:
        """Called after every round with all that is needed to go on with the next; may keep it, or end the run.

        ``round_number``: the last round done, as ``report`` counts them.
        """


NONE = Checkpoint()
