"""The runs of one experiment and what can be measured in them, for claims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from outagefl import components
from outagefl.analysis.indexes import factors
from outagefl.analysis.records import read_record
from outagefl.analysis.results import collect
from outagefl.errors import DataError
from outagefl.runs.words import in_words


class Experiment:
    """An experiment that was run. Every run is measured once, and only where a claim asks for it."""

    def __init__(self, index: pd.DataFrame, root: Path, *, tail: float, margin: float, protocol: str = "") -> None:
        """``index``: as ``indexes.read_index``; ``margin``: of equivalence, points; ``protocol``: of all its runs."""
        self.index, self.margin, self.protocol = index, margin, protocol
        self._root, self._tail = root, tail
        self._measured: dict[tuple[str, str], float] = {}
        self._records: dict[str, tuple[Any, str]] = {}

    def values(self, rows: pd.DataFrame, measure: Mapping[str, Any]) -> pd.DataFrame:
        """The rows of the index as ``contrast`` wants them; DataError naming a run that has no finite value."""
        function, options = components.load("measure", measure)
        named = json.dumps(measure, sort_keys=True)
        new = rows[[(run, named) not in self._measured for run in rows["run"]]].drop_duplicates("run")
        if len(new):
            found = collect(
                new, self._root, lambda run: pd.DataFrame({"value": [function(run, self._tail, **options)]})
            )
            if found["value"].isna().any():
                run = new["run"].to_numpy()[found["value"].isna().to_numpy()][0]
                raise DataError(f"{self._root / run}: its {named} is not a number")
            self._measured |= {(run, named): value for run, value in zip(new["run"], found["value"], strict=True)}
        values = [self._measured[run, named] for run in rows["run"]]
        return rows[[*factors(rows), "method", "seed"]].assign(value=values)

    def ran(self, rows: pd.DataFrame) -> str:
        """What these runs are, in words: ``digits; 20 clients; 30 rounds``."""
        return in_words(self._record(run)[0] for run in rows["run"].unique())

    def data(self, rows: pd.DataFrame) -> str:
        """What a reader must know of their data, e.g. that images were recompressed; empty for nothing."""
        notes = [self._record(run)[1] for run in rows["run"].unique()]
        return "; ".join(dict.fromkeys(filter(None, notes)))

    def _record(self, run: str) -> tuple[Any, str]:
        if run not in self._records:
            self._records[run] = tuple(read_record(self._root / run, key) for key in ("spec", "data_note"))
        return self._records[run]
