"""Collect the findings of all theory checks."""

import pandas as pd

from outagefl.analysis.findings import findings_table
from outagefl.analysis.writers import write_csv, write_html
from outagefl.scripting import recorded

with recorded(snakemake):
    found = pd.concat([pd.read_csv(path) for path in snakemake.input], ignore_index=True)
    write_csv(found, snakemake.output.csv)
    caption = f"The papers' theory against computations at scale {snakemake.params.scale}"
    write_html(findings_table(found), snakemake.output.html, caption)
