"""The claims and their verdicts as the page shows them: rows to be sorted and searched, counts, what can be decided."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pandas as pd

from outagefl.analysis.claims_table import interval, name, published, quantity, seeds, verdict_counts
from outagefl.analysis.verdicts import NOT_RUN, VERDICTS
from outagefl.analysis.writers import NO_BREAK, p_value

THEORY = "theory: "  # before the check that a claim rests on
FEW = 5  # seeds with which a sign test cannot decide anything


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and the number that it is sorted by; None: by its text."""

    text: str
    number: float | None = None

    @property
    def key(self) -> str:
        """The number for sorting; empty where there is none."""
        return "" if self.number is None or math.isnan(self.number) else repr(self.number)


@dataclass(frozen=True)
class Row:
    """A claim: where it stands on the page, its text, its numbers, and the place of what decided it."""

    anchor: str
    name: str
    study: str
    verdict: str
    rank: int
    text: str
    source: str
    told: list[str]
    unit: str
    group: str  # the experiment, or the study's theory
    place: str  # that, or the theory check; empty for what is not on the page
    numbers: dict[str, Cell]


def rows(evaluated: pd.DataFrame, places: Collection[str]) -> list[Row]:
    """The rows to be shown, claims that were not run last; ``places``: the experiments and checks on the page."""
    told = evaluated.sort_values("verdict", key=lambda verdicts: verdicts == NOT_RUN, kind="stable")
    return [_row(row, places) for row in told.to_dict("records")]


def _row(row: dict[Any, Any], places: Collection[str]) -> Row:
    decided = str(row["experiment"])
    place = f"{row['study']}/{decided.replace(THEORY, 'theory/')}"
    low = row["low"]
    return Row(
        anchor=f"{row['study']}-{name(row).replace(' (released)', '-released')}",
        name=name(row),
        study=row["study"],
        verdict=row["verdict"],
        rank=VERDICTS.index(row["verdict"]),
        text=row["text"],
        source=row["source"],
        told=[row[key] for key in ("ran", "data", "note") if pd.notna(row[key]) and row[key]],
        unit=row["unit"],
        group=f"{row['study']}/theory" if decided.startswith(THEORY) else place,
        place=place if place in places else "",
        numbers={
            "published": Cell(published(row["says"], row["published"], "").strip(), row["published"]),
            "ours": Cell(quantity(row["ours"], "").strip(), row["ours"]),
            "95 % interval": Cell(interval(low, row["high"]).replace(NO_BREAK, " "), low),
            "p": Cell(p_value(row["p"]), row["p"]),
            "p against": Cell(p_value(row["p_against"]), row["p_against"]),
            "seeds": Cell(seeds(row["n"]), row["n"] or math.nan),
        },
    )


def counts(evaluated: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Study → verdict → how many rows have it, all verdicts in their order."""
    return {str(study): verdict_counts(own) for study, own in evaluated.groupby("study", sort=False)}


def decidable(evaluated: pd.DataFrame) -> list[str]:
    """What can be decided at this scale, in plain sentences."""
    ids = ["study", "id"]
    tested = evaluated[evaluated["verdict"] != NOT_RUN]
    runs = tested[tested["n"] > 0]
    all_claims, all_tested, theory = (
        len(each.drop_duplicates(ids)) for each in (evaluated, tested, tested[tested["n"] == 0])
    )
    scale = evaluated["scale"].iloc[0]
    found = [
        f"At scale {scale}, {all_tested} of {all_claims} claims can be tested: {all_tested - theory} with runs, "
        f"{theory} statements of theory by computation. The other {all_claims - all_tested} need experiments, methods, "
        "levels or full settings that are not part of it."
    ]
    if len(runs):
        few, many = int(runs["n"].min()), int(runs["n"].max())
        found.append(
            f"Claims with runs rest on {few if few == many else f'{few} to {many}'} seed{'s' if many > 1 else ''} each"
            + (f"; with {FEW} or fewer, small effects stay unresolved." if few <= FEW else ".")
        )
        found.append(
            "Orderings and gains hold for the data and sizes that were run; absolute accuracies are judged only "
            "where the published setting is run."
        )
    return found
