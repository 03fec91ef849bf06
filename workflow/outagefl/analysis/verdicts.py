"""The verdict on a claim: one rule for all, fixed before any result was seen.

A claim says that an effect is ``at least`` the published value (the usual sense) or ``at most`` ("only 1.8 points").

At least: with "significant" meaning a Holm-corrected p-value below 0.05, the first line that applies:

- ``reproduced``: significant, in the published direction, and the published value is not beyond the interval's far
  end: it lies inside, or ours exceeds it.
- ``direction only``: significant in the published direction, but the published value is beyond our interval.
- ``not reproduced``: significant in the opposite direction, or equivalent to no effect (TOST within the margin,
  corrected p below 0.05).
- ``unresolved``: anything else; the data do not decide.

At most: the bound is the published value plus the margin of equivalence, since a smaller excess counts as none.

- ``reproduced``: our whole 95 % interval lies at or below the bound; by how much, and on which side of zero, is no
  matter.
- ``not reproduced``: it lies above the bound.
- ``unresolved``: the bound is inside, or there is no interval.

Where nothing but a direction is published, ours must be above zero: that value is 0. A claim of a ``count`` has no
sampling error to be tested: it is reproduced when ours is at least the published number.

A worked example has no sampling error: it is reproduced when it agrees within the tolerance, else not.
A claim whose experiment is not part of the scale is ``not run at this scale``.
"""

from __future__ import annotations

ALPHA = 0.05

REPRODUCED = "reproduced"
DIRECTION_ONLY = "direction only"
NOT_REPRODUCED = "not reproduced"
UNRESOLVED = "unresolved"
NOT_RUN = "not run at this scale"

BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"  # of a comparison; it may also be unresolved

AT_MOST = "at most"  # the sense of an upper bound
COUNT = "count"  # the sense of a number of things


def judge(published: float, ours: float, low: float, high: float, *, p: float, p_equivalence: float) -> str:
    """The verdict on an effect that is said to be at least the published one.

    All values relative to no effect = 0, p-values corrected, NaN where not defined.
    """
    direction = -1 if published < 0 else 1
    far_end = high if direction > 0 else low
    significant, same = p < ALPHA, ours * direction > 0
    if significant and same:
        return REPRODUCED if published * direction <= far_end * direction else DIRECTION_ONLY
    if significant or p_equivalence < ALPHA:
        return NOT_REPRODUCED
    return UNRESOLVED


def judge_at_most(published: float, low: float, high: float, margin: float) -> str:
    """The verdict on an effect that is said to be at most the published one; all in one unit, NaN for no interval."""
    if high <= published + margin:
        return REPRODUCED
    return NOT_REPRODUCED if low > published + margin else UNRESOLVED


def decide(difference: float, p: float, p_equivalence: float) -> str:
    """What a comparison of two methods says: better or worse (significant), else equivalent, else unresolved."""
    if p < ALPHA:
        return BETTER if difference > 0 else WORSE
    return EQUIVALENT if p_equivalence < ALPHA else UNRESOLVED


def judge_count(published: float, ours: float) -> str:
    """The verdict on a number that is said to be at least the published one, and is counted."""
    return REPRODUCED if ours >= published else NOT_REPRODUCED


def judge_example(published: float, ours: float, tolerance: float) -> str:
    """The verdict on a worked example."""
    return REPRODUCED if abs(ours - published) <= tolerance else NOT_REPRODUCED
