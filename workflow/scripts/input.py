"""Make one data set, partition, graph, trace, matrix of probabilities or availability matrix."""

import os
from pathlib import Path

from outagefl.runs.plan import make_input
from outagefl.scripting import logged
from outagefl.sources.verification import confirm

with logged(snakemake.log[0]):
    for path, promised in snakemake.params.promises.items():  # a file put there by hand was never checked
        confirm(Path(path), **promised)
    needs = Path(os.path.commonpath(snakemake.input)) if snakemake.input else None  # the folder of several files
    make_input(snakemake.params.what, snakemake.params.spec, needs, Path(snakemake.output[0]))
