"""Choose a value from validation runs."""

from pathlib import Path

from outagefl.analysis.choices import create
from outagefl.scripting import recorded

read = [f"results/{run}/metrics.parquet" for run in snakemake.params.runs]
with recorded(snakemake, read):
    create(snakemake.params.settings, snakemake.params.runs, Path("results"), Path(snakemake.output[0]))
