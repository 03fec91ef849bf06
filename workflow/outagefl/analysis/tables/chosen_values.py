"""Table: what was chosen on validation seeds in each setting, and how well every candidate did there."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.indexes import setting
from outagefl.analysis.looks import label
from outagefl.analysis.records import read_record
from outagefl.analysis.writers import BOLD, DASH, Table
from outagefl.errors import DataError
from outagefl.runs.choices import chosen_option

ROW, COLUMN = ["setting", "method"], ["option", "candidate"]


def tabulate(index: pd.DataFrame, root: Path) -> Table:
    """The mean score of each candidate over the validation seeds, by setting and method; the chosen one is bold.

    Read from the records of the runs that use it. Tidy: setting, method, option, candidate, mean (%), n (seeds) and
    chosen. Raises DataError when no run has a choice.
    """
    parts = []
    for where, row in zip(setting(index), index.to_dict("records"), strict=True):
        folder = Path(root) / row["run"]
        if option := chosen_option(read_record(folder, "spec")):
            choice = read_record(folder, "choice")
            rows = [(each["value"], each["mean"], len(each["scores"])) for each in choice["candidates"]]
            part = pd.DataFrame(rows, columns=["candidate", "mean", "n"])
            part["chosen"] = part["candidate"] == choice["value"]
            parts.append(part.assign(setting=where, method=row["method"], option=option))
    if not parts:
        raise DataError("chosen_values: no method of this experiment has an option that is chosen on validation seeds")
    tidy = pd.concat(parts).drop_duplicates([*ROW, *COLUMN], ignore_index=True)
    tidy = tidy[[*ROW, *COLUMN, "mean", "n", "chosen"]]
    cells = tidy.assign(text=tidy["mean"].map("{:.2f}".format), mark=tidy["chosen"].map({True: BOLD, False: ""}))
    return Table(tidy, _laid_out(cells, "text", DASH), _caption(tidy), _laid_out(cells, "mark", ""))


def _laid_out(cells: pd.DataFrame, value: str, empty: str) -> pd.DataFrame:
    """A row per setting and method in their order, a column per option and candidate, the smallest first."""
    wide = cells.assign(method=cells["method"].map(label)).pivot(index=ROW, columns=COLUMN, values=value).fillna(empty)
    rows = dict.fromkeys(zip(cells["setting"], cells["method"].map(label), strict=True))
    wide = wide.loc[list(rows)].sort_index(axis=1)
    wide.index.names, wide.columns.names = [None, None], [None, None]
    return wide


def _caption(tidy: pd.DataFrame) -> str:
    seeds = " or ".join(map(str, sorted(tidy["n"].unique())))
    return (
        f"mean accuracy (%) of each candidate over {seeds} validation seed{'' if seeds == '1' else 's'}, "
        "which no run of the comparison has; bold: the candidate that was chosen for the setting."
    )
