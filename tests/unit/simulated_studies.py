"""Studies that were never run, whose truth is known: how often a claim of each kind gets which verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from outagefl.analysis.claims import contrasts, estimate
from outagefl.analysis.contrast import Contrast
from outagefl.analysis.verdicts import judge

LEVELS, PLACES, METHODS = ("1", "2", "3", "4", "5"), ("here", "there"), ("a", "b", "c", "d")
MARGIN = 0.5  # points
Truth = Callable[[str, int, str], float]  # method, level, place → the value that runs scatter around

GAIN: dict[str, Any] = {"kind": "gain", "method": "a", "baseline": "b"}
ALONG: dict[str, Any] = {"method": "a", "factor": "level"}
POINTS: dict[str, Any] = {"published": 2.0, "unit": "points"}
LEVEL: dict[str, Any] = {"statistic": {"kind": "value", "method": "a"}, "published": 80.0, "unit": "%", "within": 2.0}


def gains(a: float = 0, c: float = 0, d: float = 0) -> Truth:
    """By how much methods exceed ``b``, everywhere."""
    return lambda method, level, place: 80 + {"a": a, "b": 0, "c": c, "d": d}[method]


def along(*values: float) -> Truth:
    """By how much ``a`` exceeds all others at each level."""
    return lambda method, level, place: 80 + (values[level - 1] if method == "a" else 0)


def at(here: float, there: float) -> Truth:
    """By how much ``a`` exceeds all others in each place."""
    return lambda method, level, place: 80 + (method == "a") * {"here": here, "there": there}[place]


# Claim, and what is true: as published; nothing of it, in the way that is hardest to tell from it; the other way round.
KINDS: dict[str, tuple[dict[str, Any], Truth, Truth, Truth]] = {
    "gain": ({"statistic": GAIN, **POINTS}, gains(2), gains(0), gains(-2)),
    "gain, everywhere": ({"statistic": GAIN, **POINTS, "each": ["place"]}, at(2, 2), at(9, 0), at(9, -2)),
    "gain of any": (
        {"statistic": {**GAIN, "method": ["a", "c", "d"]}, **POINTS, "any": True},
        gains(2),
        gains(0),
        gains(-2, -2, -2),
    ),
    "direction alone": ({"statistic": GAIN, "published": None, "unit": "points"}, gains(2), gains(0), gains(-2)),
    "ratio": (
        {"statistic": GAIN, "published": 1.03, "unit": "×", "ratio": True},
        gains(2.4),
        gains(0),
        gains(-2.4),
    ),
    "ordering": (
        {"statistic": {"kind": "ordering", "order": ["a", "b", ["c", "d"]]}, **POINTS},
        gains(2, -2, -2),
        gains(0, -9, -9),
        gains(-2, 2, 2),
    ),
    "change": (
        {"statistic": {"kind": "change", **ALONG, "base": 1, "level": 5}, **POINTS},
        along(0, 0, 0, 0, 2),
        along(0, 0, 0, 0, 0),
        along(2, 0, 0, 0, 0),
    ),
    "change of a gain": (
        {"statistic": {"kind": "change", **ALONG, "baseline": "b", "base": 1, "level": 5}, **POINTS},
        along(0, 0, 0, 0, 2),
        along(0, 0, 0, 0, 0),
        along(2, 0, 0, 0, 0),
    ),
    "trend": (
        {"statistic": {"kind": "trend", **ALONG}, "published": 1.0, "unit": "points"},
        along(0, 1, 2, 3, 4),
        along(0, 0, 0, 0, 0),
        along(4, 3, 2, 1, 0),
    ),
    "every step": (
        {"statistic": {"kind": "steps", **ALONG}, **POINTS},
        along(0, 2, 4, 6, 8),
        along(0, 9, 9, 18, 27),
        along(8, 6, 4, 2, 0),
    ),
    "peak": (
        {"statistic": {"kind": "peak", **ALONG, "at": 3}, **POINTS},
        along(0, 1, 2, 1, 0),
        along(0, 1, 9, 9, 9),
        along(2, 1, 0, 1, 2),
    ),
    "wins": (
        {"statistic": GAIN, "says": "wins", "published": 90.0, "unit": "%"},
        gains(2),
        gains(0),
        gains(-2),
    ),
    "at least": ({**LEVEL, "says": "at least"}, gains(2), gains(-2), gains(-6)),
    "at most": ({**LEVEL, "says": "at most"}, gains(-2), gains(2), gains(6)),
    "about": ({**LEVEL, "says": "about"}, gains(0), gains(2), gains(6)),
    "parity": (
        {"statistic": GAIN, "says": "about", "published": 0.0, "unit": "points", "within": 2.0},
        gains(0),
        gains(2),
        gains(6),
    ),
}


def values(truth: Truth, seeds: int, rng: np.random.Generator) -> pd.DataFrame:
    """Runs of every method, level and place with ``seeds`` seeds; a seed makes some methods better than others.

    Scatter, in points: 2 of a seed, common to its runs; 1 of a method in a seed, whatever the setting; 0.7 of a run.
    """
    cells = list(product(METHODS, LEVELS, PLACES))
    common = rng.normal(0, 2, (1, seeds))
    own = {method: rng.normal(0, 1, seeds) for method in METHODS}
    rows = [truth(method, int(level), place) + own[method] for method, level, place in cells]
    found = np.stack(rows) + common + rng.normal(0, 0.7, (len(cells), seeds))
    frame = pd.DataFrame(cells, columns=["method", "level", "place"])
    frame = frame.loc[frame.index.repeat(seeds)].reset_index(drop=True)
    return frame.assign(seed=np.tile(np.arange(seeds), len(cells)), value=found.ravel())


def uneven(won: int, lost: int, tied: int = 0, pairs: tuple[int, int] = (12, 5)) -> Contrast:
    """So many seeds won, lost and tied in 12 settings: how many ``pairs`` the first and second win; all others tie."""
    kinds = [np.where(np.arange(12) < ahead, 1.0, -1.0) for ahead in pairs]
    by_seed = np.repeat([*kinds, np.zeros(12)], (won, lost, tied), axis=0)
    index = pd.MultiIndex.from_product([range(len(by_seed)), range(12)], names=["seed", "place"])
    return pd.Series(by_seed.ravel(), index)


def verdicts(claim: Mapping[str, Any], truth: Truth, seeds: int, studies: int, key: int) -> Counter[str]:
    """How many of so many ``studies``, with ``seeds`` seeds each and one claim, end in which verdict."""
    every = contrasts(claim, values(truth, seeds * studies, np.random.default_rng([key, seeds])))
    found: Counter[str] = Counter()
    ordered = {name: contrast.sort_index(level="seed", kind="stable") for name, contrast in every.items()}
    for study in range(studies):
        own = {
            name: contrast.iloc[study * (size := len(contrast) // studies) : (study + 1) * size]
            for name, contrast in ordered.items()
        }
        ours = estimate(claim, own, MARGIN)
        published = np.nan if claim["published"] is None else claim["published"]
        found[judge(claim.get("says", "effect"), published, ours.high, ours.p, ours.p_against)] += 1
    return found
