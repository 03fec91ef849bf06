"""Write the page that shows a scale's results."""

from pathlib import Path

from outagefl.report.page import write_results
from outagefl.scripting import recorded

with recorded(snakemake):
    params = snakemake.params
    write_results(Path(snakemake.output[0]), Path("results"), params.given, params.experiments, params.checks)
