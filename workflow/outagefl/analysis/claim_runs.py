"""Which runs of an experiment a claim is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from outagefl.runs.claims import named_factors, named_methods, required_levels, restrictions

PROTOCOLS = ("paper", "released")  # levels of a factor ``protocol`` under each of which a claim is tested


def by_protocol(index: pd.DataFrame, protocol: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """The runs under each protocol of a factor ``protocol``, or all of them where there is no such factor."""
    if "protocol" not in index:
        yield protocol, index
        return
    for level, rows in index.groupby("protocol", sort=False):
        if level in PROTOCOLS:
            yield str(level), rows.drop(columns="protocol")


def meant(claim: Mapping[str, Any], index: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The runs that a claim is about, and what of it is not run, if anything is."""
    methods = named_methods(claim["statistic"])
    if absent := [name for name in methods if name not in set(index["method"])]:
        return index, f"{absent[0]} is not among the methods"
    for factor in named_factors(claim):
        if factor not in index:
            return index, f"{factor} is not among the factors"
    for factor, needed in required_levels(claim).items():
        if absent := [level for level in needed if level not in set(index[factor])]:
            return index, f"{absent[0]} is not among the levels of {factor}"
    for factor, levels in restrictions(claim).items():
        index = index[index[factor].isin(levels)]
        if index.empty:
            return index, f"none of {', '.join(levels)} is among the levels of {factor}"
    factor = claim["statistic"].get("factor")
    if factor is not None and index[factor].nunique() < 2:
        return index, f"there is one level of {factor}"
    return index[index["method"].isin(methods)], ""
