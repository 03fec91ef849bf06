"""Table: how many numbers the server and each client keep between rounds, as multiples of the model's parameters."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from outagefl.analysis.looks import label
from outagefl.analysis.records import read_record
from outagefl.analysis.results import collect, metrics
from outagefl.analysis.writers import DASH, Table

KEPT = {"server": "server_memory", "client": "client_memory"}
# FedSWE paper, section 7.1: what it says about memory, with m clients and d parameters.
PUBLISHED = {"fedswe_k0": "O(d)", "fedswe_km": "O(d)", "mifa": "O(md)", "fedvarp": "O(md)"}
MODEL = ["dataset", "clients"]


def tabulate(index: pd.DataFrame, root: Path) -> Table:
    """Numbers kept by the server, its model included, and by each client beside its data, by data set and method.

    d is the least that any server of the data set keeps: the model alone, where a method without memory is among them.
    Tidy: dataset, clients, method, parameters, server, client (the numbers), published.
    """

    def of_run(folder: Path) -> pd.DataFrame:
        kept = metrics(folder, list(KEPT.values()), mean=True).groupby("metric")["value"].last()
        spec = read_record(folder, "spec")
        numbers = {name: kept[metric] for name, metric in KEPT.items()}
        return pd.DataFrame([{"dataset": spec["dataset"]["kind"], "clients": spec["clients"], **numbers}])

    runs = collect(index.drop_duplicates("run"), root, of_run)
    tidy = runs.groupby([*MODEL, "method"], sort=False)[[*KEPT]].max().reset_index()
    tidy.insert(3, "parameters", tidy.groupby(MODEL)["server"].transform("min"))
    tidy = tidy.astype({"parameters": int, "server": int, "client": int})
    tidy["published"] = tidy["method"].map(PUBLISHED)
    caption = (
        "numbers kept between rounds, as multiples of the d parameters of the model: by the server, its model "
        "included, and by each of the m clients beside its data. Paper: what it says of the whole memory."
    )
    return Table(tidy, _shown(tidy), caption)


def _shown(tidy: pd.DataFrame) -> pd.DataFrame:
    columns = {}
    for (dataset, clients), own in tidy.groupby(MODEL, sort=False):
        model = f"{dataset}, m = {clients}, d = {own['parameters'].iloc[0]:,}"
        for heading, name in (("server", "server"), ("each client", "client")):
            multiples = own[name] / own["parameters"]
            columns[model, heading] = pd.Series([f"{x:,.3f} d" for x in multiples], own["method"])
    if tidy["published"].notna().any():
        columns["paper", "memory"] = tidy.drop_duplicates("method").set_index("method")["published"]
    return (
        pd.DataFrame(columns)
        .loc[list(dict.fromkeys(tidy["method"]))]
        .fillna(DASH)
        .rename(index=label)
        .rename_axis(index=None)
    )
