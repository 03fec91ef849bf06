"""The study table: methods × outage settings, each with its score and its paired difference to each baseline."""

from __future__ import annotations

import pandas as pd

from outagefl.analysis.looks import label
from outagefl.analysis.writers import DASH, NO_BREAK

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def study_table(comparisons: pd.DataFrame, score: str = "accuracy (%)", difference: str = "Δ (points)") -> pd.DataFrame:
    """A frame of text to be shown: one row per method, per setting a column for the score and one per baseline.

    A score reads ``mean ± half the 95 % t interval`` (the mean alone for a single seed), a difference ``+4.02***`` with
    stars for the Holm-corrected paired t-test (* < .05, ** < .01, *** < .001; over all settings the seed-clustered
    one). The baseline, which has no difference, shows a dash. ``comparisons`` as ``comparisons.comparisons`` makes it.
    """
    baselines = list(dict.fromkeys(comparisons["baseline"]))
    headings = {name: difference if len(baselines) == 1 else f"Δ to {label(name)}" for name in baselines}
    first = comparisons[comparisons["baseline"] == baselines[0]]
    halves = (first["mean_high"] - first["mean_low"]) / 2
    scores = [_score(*pair) for pair in zip(first["mean"], halves, strict=True)]
    gains = [_difference(*pair) for pair in zip(comparisons["difference"], comparisons["p_t_holm"], strict=True)]
    cells = pd.concat(
        [
            first.assign(column=score, text=scores),
            comparisons.assign(column=comparisons["baseline"].map(headings), text=gains),
        ]
    )
    cells["method"] = cells["method"].map(label)
    wide = cells.pivot(index="method", columns=["setting", "column"], values="text")
    columns = [(where, column) for where in dict.fromkeys(first["setting"]) for column in (score, *headings.values())]
    shown: pd.DataFrame = wide.loc[list(dict.fromkeys(cells["method"])), columns]
    shown.index.name, shown.columns.names = None, [None, None]
    return shown


def stars(p: float) -> str:
    """The stars of a corrected p-value; none where it is not significant or missing."""
    return next((marks for bound, marks in STARS if p < bound), "")


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign and a real minus; zero has no sign."""
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text if text.strip("+−0.") else text[1:]


def _score(mean: float, half: float) -> str:
    return f"{mean:.2f}" if pd.isna(half) else f"{mean:.2f}{NO_BREAK}±{NO_BREAK}{half:.2f}"


def _difference(difference: float, p: float) -> str:
    return DASH if pd.isna(difference) else signed(difference) + stars(p)
