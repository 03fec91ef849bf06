"""Hold every published claim against the results of this scale."""

from pathlib import Path

from outagefl.analysis.claims import claims_table, evaluate
from outagefl.analysis.indexes import read_index
from outagefl.analysis.notes import data_note
from outagefl.analysis.results import scores
from outagefl.analysis.writers import write_csv, write_html
from outagefl.scripting import recorded

with recorded(snakemake):
    params, root = snakemake.params, Path("results")
    experiments, notes = [], {}
    for name, tail in params.tails.items():
        index = read_index(f"results/{params.scale}/{name}/runs.csv")
        experiments.append(scores(index, root, tail))
        notes[name] = data_note(index, root)
    found = evaluate(params.claims, experiments, params.margins, params.scale, notes)
    write_csv(found, snakemake.output.csv)
    write_html(claims_table(found), snakemake.output.html, f"Published claims at scale {params.scale}")
