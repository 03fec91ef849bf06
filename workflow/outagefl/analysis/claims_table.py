"""The claims and their verdicts as a table to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from outagefl.analysis.verdicts import ABOUT, AT_LEAST, AT_MOST, FINDING, NOT_RUN, VERDICTS
from outagefl.analysis.writers import DASH, NO_BREAK, p_value

BY_RUNS, BY_COMPUTATION = "by runs", "by computation"
SIGNS = {AT_LEAST: "≥", AT_MOST: "≤", ABOUT: "≈"}


def claims_table(evaluated: pd.DataFrame) -> pd.DataFrame:
    """The frame of text to be shown, a row for each row of ``claims.evaluate``, in the order of ``in_order``."""
    told = in_order(evaluated)
    rows = [
        {
            "study": row["study"],
            "verdict": row["verdict"],
            "claim": f"{row['text']} ({row['source']})",
            **numbers(row, row["unit"]),
            "protocol": "; ".join(filled(row, "protocol")) or DASH,
            "ran": "; ".join(filled(row, "ran", "data")) or DASH,
            "note": "; ".join(filled(row, "note")),
        }
        for row in told
    ]
    return pd.DataFrame(rows, index=[name(row) for row in told])


def in_order(evaluated: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows in the order in which they are shown: tested by runs, tested by computation, all others."""
    place = 2 * (evaluated["verdict"] == NOT_RUN) + (evaluated["says"] == FINDING)
    ordered: list[dict[Any, Any]] = evaluated.iloc[place.argsort(kind="stable")].to_dict("records")
    return ordered


def numbers(row: Mapping[Any, Any], unit: str) -> dict[str, str]:
    """The numbers of a row as text, by column; what is published and what is ours have the ``unit``."""
    return {
        "published": published(row["says"], row["published"], unit),
        "ours": quantity(row["ours"], unit),
        "95 % interval": interval(row["low"], row["high"]),
        "p": p_value(row["p"]),
        "p against": p_value(row["p_against"]),
        "seeds": seeds(row["n"]),
    }


def filled(row: Mapping[Any, Any], *keys: str) -> list[str]:
    """Those of these texts that there are."""
    return [row[key] for key in keys if pd.notna(row[key]) and row[key]]


def caption(evaluated: pd.DataFrame) -> str:
    """What the table shows, and how many claims of each study have which verdict."""
    scale = evaluated["scale"].iloc[0]
    counts = [counted(str(study), own) for study, own in evaluated.groupby("study", sort=False)]
    return (
        f"Published claims at scale {scale}. {'. '.join(counts)}. Effects count as reproduced when they exceed what is "
        "published; ≥, ≤ and ≈ stand for claims of at least, at most and about so much. Evidence for a claim (p) and "
        "against it (p against) is Holm-corrected over the claims of a study that were tested. Intervals are 95 % "
        "each, over seeds."
    )


def counted(study: str, claims: pd.DataFrame) -> str:
    """How many of a study's claims have which verdict, in words."""
    told = (
        f"{kind} {', '.join(f'{count} {verdict}' for verdict, count in verdict_counts(own).items() if count)}"
        for kind, own in by_kind(claims).items()
    )
    return f"{study}: {'; '.join(told)}"


def by_kind(claims: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The claims that runs decide and those, of theory, that a computation does; without a kind that has none."""
    kinds = claims["says"].map(kind_of)
    return {kind: claims[kinds == kind] for kind in (BY_RUNS, BY_COMPUTATION) if (kinds == kind).any()}


def kind_of(says: str) -> str:
    """What decides a claim that says so."""
    return BY_COMPUTATION if says == FINDING else BY_RUNS


def verdict_counts(claims: pd.DataFrame) -> dict[str, int]:
    """How many claims have which verdict, all verdicts in their order."""
    return {verdict: int((claims["verdict"] == verdict).sum()) for verdict in VERDICTS}


def name(row: Mapping[Any, Any]) -> str:
    """A claim's id; one that is tested under the released code's protocol, too, says so in that row."""
    return f"{row['id']}{' (released)' if row['protocol'] == 'released' else ''}"


def published(says: str, value: float, unit: str) -> str:
    """The published value with what is said of it."""
    return (SIGNS[says] + NO_BREAK if says in SIGNS else "") + quantity(value, unit)


def seeds(count: float) -> str:
    """The number of seeds, or a dash where nothing was run."""
    return f"{count:.0f}" if count else DASH


def number(value: float) -> str:
    """Three significant digits, with a real minus."""
    text = f"{value:.3g}" if abs(value) < 1e-3 or abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")
    return text.replace("-", "−")


def interval(low: float, high: float) -> str:
    """Both ends, or a dash where there are none."""
    return DASH if pd.isna(low) else f"{number(low)}{NO_BREAK}…{NO_BREAK}{number(high)}"


def quantity(value: float, unit: str) -> str:
    """A number with its unit, or a dash where there is none."""
    return DASH if pd.isna(value) else f"{number(value)}{NO_BREAK}{unit}"
