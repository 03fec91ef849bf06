"""Write the index of one experiment."""

from pathlib import Path

from outagefl.runs.index import write_index
from outagefl.scripting import logged

with logged(snakemake.log[0]):
    write_index(snakemake.params.rows, Path("results"), Path(snakemake.output[0]))
