"""The verdict on a claim: one rule for all, fixed before any result was seen.

What a claim ``says`` of what is measured, and of each contrast where it says several things at once:

- ``effect`` (the usual case): above zero and, where a size is published, of that size or more.
- ``at least``, ``at most``: not below or not above the published value by more than ``within``.
- ``about``: off the published value by less than ``within``. Parity is ``about`` 0.
- ``wins``: in so many % of the pairs above zero; equal ones count half. Tested is in how many seeds most
  pairs are above zero, or below it.
- ``unresolved``: so many comparisons are neither different nor equivalent.

Two p-values, each Holm-corrected over all claims of the study that are tested at this scale: ``p`` of the evidence for
what is said, ``p_against`` of the evidence against it. Both count below 0.05. Those of one side alone are doubled, as
the 95 % intervals have two sides; only ``about`` is tested as equivalence is, by two one-sided tests.

- ``reproduced``: ``p`` is significant, and an effect's published size does not exceed our interval.
- ``direction only``: an effect with a significant ``p`` whose published size lies above our interval.
- ``not reproduced``: ``p_against`` is significant and ``p`` is not. Against an effect speak those the other way
  and those smaller than the study's margin of equivalence, or than the published size if that is less still: one test,
  of being below that.
- ``unresolved``: anything else; with so many seeds the data do not decide.

A count of unresolved comparisons has no p-value, and a statement of the theory (``finding``) neither: it was held
against a computation, and is ``reproduced`` if it holds, else ``not reproduced``.
A claim whose experiment, methods or levels are not part of the scale is ``not run at this scale``.
"""

from __future__ import annotations

ALPHA = 0.05

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction only"
NOT_REPRODUCED = "not reproduced"
UNRESOLVED = "unresolved"
NOT_RUN = "not run at this scale"
VERDICTS = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, UNRESOLVED, NOT_RUN)

BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"  # of a comparison; it may also be unresolved

EFFECT, AT_LEAST, AT_MOST, ABOUT, WINS, COUNT = "effect", "at least", "at most", "about", "wins", "unresolved"
FINDING = "finding"  # what is said of a claim of theory, which is not tested but computed
SIZED = (EFFECT, WINS)  # what may hold in direction only


def judge(says: str, published: float, high: float, p: float, p_against: float) -> str:
    """The verdict of corrected p-values; ``published`` and the interval's upper end may be NaN."""
    if p < ALPHA:
        return DIRECTION_ONLY if says in SIZED and published > high else REPRODUCED
    return NOT_REPRODUCED if p_against < ALPHA else UNRESOLVED


def held(holds: bool) -> str:
    """The verdict on what is not tested but computed."""
    return REPRODUCED if holds else NOT_REPRODUCED


def decide(difference: float, p: float, p_equivalence: float) -> str:
    """What a comparison of two methods says: better or worse (significant), else equivalent, else unresolved."""
    if p < ALPHA:
        return BETTER if difference > 0 else WORSE
    return EQUIVALENT if p_equivalence < ALPHA else UNRESOLVED
