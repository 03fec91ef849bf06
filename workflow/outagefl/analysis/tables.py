"""The study table: methods × outage settings, each with its score and its paired difference to the baseline."""

from __future__ import annotations

import pandas as pd

from outagefl.analysis.style import label
from outagefl.analysis.writers import DASH, NO_BREAK

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def study_table(comparisons: pd.DataFrame, score: str = "accuracy (%)", difference: str = "Δ (points)") -> pd.DataFrame:
    """A frame of text to be shown: one row per method, two columns (score, difference) per setting.

    A score reads ``mean ± half the 95 % t interval`` (the mean alone for a single seed), a difference ``+4.02***`` with
    stars for the Holm-corrected paired t-test (* < .05, ** < .01, *** < .001; over all settings the seed-clustered
    one). The baseline, which has no difference, shows a dash. ``comparisons`` as ``comparisons.comparisons`` makes it.
    """
    halves = (comparisons["mean_high"] - comparisons["mean_low"]) / 2
    table = pd.DataFrame(
        {
            "method": comparisons["method"].map(label),
            "setting": comparisons["setting"],
            score: [_score(*pair) for pair in zip(comparisons["mean"], halves, strict=True)],
            difference: [
                _difference(*pair) for pair in zip(comparisons["difference"], comparisons["p_t_holm"], strict=True)
            ],
        }
    )
    wide = table.pivot(index="method", columns="setting", values=[score, difference]).swaplevel(axis=1)
    columns = [(where, column) for where in dict.fromkeys(table["setting"]) for column in (score, difference)]
    shown = wide.loc[list(dict.fromkeys(table["method"])), columns]
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
