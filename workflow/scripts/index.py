"""Write the index of one experiment."""

from pathlib import Path

from outagefl.runs.index import write_index
from outagefl.scripting import recorded

read = dict.fromkeys(f"results/{row['run']}/metrics.parquet" for row in snakemake.params.rows)
with recorded(snakemake, read):
    write_index(snakemake.params.rows, Path("results"), Path(snakemake.output[0]))
