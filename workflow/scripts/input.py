"""Make one data set, partition, graph, trace, availability or the like."""

import os
from pathlib import Path

from outagefl.runs.plan import make_input
from outagefl.scripting import recorded
from outagefl.sources.verification import confirm

with recorded(snakemake):
    for path, promised in snakemake.params.promises.items():  # a file put there by hand was never checked
        confirm(Path(path), **promised)
    needs = {
        name: Path(files if isinstance(files, str) else os.path.commonpath(files))  # the folder of several files
        for name, files in snakemake.input.items()
    }
    make_input(snakemake.params.what, snakemake.params.spec, needs, Path(snakemake.output[0]))
