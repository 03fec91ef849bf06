"""Make one data set, partition, graph, trace or availability matrix."""

from pathlib import Path

from outagefl.runs.plan import make_input
from outagefl.scripting import logged

with logged(snakemake.log[0]):
    needs = Path(snakemake.input[0]) if snakemake.input else None
    make_input(snakemake.params.what, snakemake.params.spec, needs, Path(snakemake.output[0]))
