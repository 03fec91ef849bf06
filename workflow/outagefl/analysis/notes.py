"""What a reader must know about the data behind results, e.g. that images were recompressed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.records import read_record


def data_note(index: pd.DataFrame, root: Path) -> str:
    """The notes on the data of the runs of an index, each once; empty when there is nothing to say."""
    notes = [read_record(Path(root) / run, "data_note") for run in index["run"].unique()]
    return "; ".join(dict.fromkeys(filter(None, notes)))
