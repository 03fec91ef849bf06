"""The claims and their verdicts as the page shows them: rows to be sorted and searched, counts, what can be decided."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pandas as pd

from outagefl.analysis.claims_table import (
    by_kind,
    filled,
    in_order,
    kind_of,
    name,
    numbers,
    verdict_counts,
)
from outagefl.analysis.verdicts import NOT_RUN, VERDICTS
from outagefl.analysis.writers import DASH, NO_BREAK

THEORY = "theory: "  # before the check that a claim rests on
FEW = 5  # seeds with which only large effects are significant
KEYS = {  # what a column of numbers is sorted by
    **{"published": "published", "ours": "ours", "95 % interval": "low"},
    **{"p": "p", "p against": "p_against", "seeds": "n"},
}


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and the number that it is sorted by."""

    text: str
    number: float

    @property
    def key(self) -> str:
        """The number for sorting; empty where none is shown."""
        return "" if self.text == DASH or math.isnan(self.number) else repr(self.number)


@dataclass(frozen=True)
class Row:
    """A claim: where it stands on the page, its text, its numbers, and the place of what decided it."""

    anchor: str
    name: str
    study: str
    verdict: str
    rank: int
    kind: str
    text: str
    source: str
    told: list[str]
    unit: str
    group: str  # the experiment, or the study's theory
    place: str  # that, or the theory check; empty for what is not on the page
    numbers: dict[str, Cell]


def rows(evaluated: pd.DataFrame, places: Collection[str]) -> list[Row]:
    """The rows to be shown, claims that were not run last; ``places``: the experiments and checks on the page."""
    return [_row(row, places) for row in in_order(evaluated)]


def _row(row: dict[Any, Any], places: Collection[str]) -> Row:
    decided = str(row["experiment"])
    place = f"{row['study']}/{decided.replace(THEORY, 'theory/')}"
    return Row(
        anchor=f"{row['study']}-{name(row).replace(' (released)', '-released')}",
        name=name(row),
        study=row["study"],
        verdict=row["verdict"],
        rank=VERDICTS.index(row["verdict"]),
        kind=kind_of(row["says"]),
        text=row["text"],
        source=row["source"],
        told=[*(f"protocol: {each}" for each in filled(row, "protocol")), *filled(row, "ran", "data", "note")],
        unit=row["unit"],
        group=f"{row['study']}/theory" if decided.startswith(THEORY) else place,
        place=place if place in places else "",
        numbers={
            column: Cell(text.replace(NO_BREAK, " ").strip(), row[KEYS[column]])
            for column, text in numbers(row, unit="").items()
        },
    )


def counts(evaluated: pd.DataFrame) -> dict[str, dict[str, dict[str, int]]]:
    """Study → what decides its claims → verdict → how many rows have it, all verdicts in their order."""
    return {
        str(study): {kind: verdict_counts(own) for kind, own in by_kind(claims).items()}
        for study, claims in evaluated.groupby("study", sort=False)
    }


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
