"""The findings of theory checks as tables, for machines and for readers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import numpy as np
import pandas as pd

from outagefl.analysis.theory.result import Finding
from outagefl.analysis.writers import DASH, NO_BREAK

COLUMNS = ["study", "check", "statement", "source", "expected", "computed", "low", "high", "holds", "note"]


def tabulate(findings: Iterable[Finding], study: str, check: str) -> pd.DataFrame:
    """One row per finding: study, check, statement, source, expected, computed, low, high, holds (yes, no), note."""
    table = pd.DataFrame([asdict(finding) for finding in findings])
    holds = np.where(table["holds"], "yes", "no")
    return table.assign(study=study, check=check, holds=holds)[COLUMNS]


def findings_table(findings: pd.DataFrame) -> pd.DataFrame:
    """The frame of text to be shown to readers, one row per finding, numbered by check."""
    rows = [
        {
            "statement": f"{row['statement']} ({row['source']})",
            "holds": row["holds"],
            "expected": _number(row["expected"]),
            "computed": _number(row["computed"]),
            "95 % interval": _interval(row["low"], row["high"]),
            "note": row["note"],
        }
        for row in findings.to_dict("records")
    ]
    number = findings.groupby(["study", "check"]).cumcount() + 1
    names = findings["study"] + " " + findings["check"] + " " + number.astype(str)
    return pd.DataFrame(rows, index=names.to_list())


def _interval(low: float, high: float) -> str:
    return DASH if pd.isna(low) else f"{_number(low)}{NO_BREAK}…{NO_BREAK}{_number(high)}"


def _number(value: float) -> str:
    return DASH if pd.isna(value) else f"{value:.4g}".replace("-", "−")
