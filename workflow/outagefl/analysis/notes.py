"""What a reader must know about the data behind results, e.g. that images were recompressed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from outagefl.errors import DataError


def data_note(index: pd.DataFrame, root: Path) -> str:
    """The notes on the data of the runs of an index, each once; empty when there is nothing to say."""
    notes = []
    for run in index["run"].unique():
        path = Path(root) / run / "run.json"
        try:
            notes.append(json.loads(path.read_text(encoding="utf-8"))["data_note"])
        except (OSError, ValueError, KeyError) as error:
            raise DataError(f"{path}: not the record of a run ({type(error).__name__}: {error})") from None
    return "; ".join(dict.fromkeys(filter(None, notes)))
