"""Merge the indexes of all experiments."""

from pathlib import Path

from outagefl.runs.index import merge_indexes
from outagefl.scripting import recorded

with recorded(snakemake):
    merge_indexes([Path(path) for path in snakemake.input], Path(snakemake.output[0]))
