"""Write the page that shows what goes into a scale's studies."""

from pathlib import Path

from outagefl.report.page import write_descriptions
from outagefl.scripting import recorded

with recorded(snakemake):
    params = snakemake.params
    write_descriptions(Path(snakemake.output[0]), Path("results"), params.given, params.described)
