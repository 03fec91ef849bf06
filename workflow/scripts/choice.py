"""Choose a value from validation runs."""

from pathlib import Path

from outagefl.analysis.choices import create
from outagefl.scripting import logged

with logged(snakemake.log[0]):
    create(snakemake.params.settings, snakemake.params.runs, Path("results"), Path(snakemake.output[0]))
