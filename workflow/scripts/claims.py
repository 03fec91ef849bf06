"""Hold every published claim against the results of this scale."""

from pathlib import Path

from outagefl.analysis.claims import claims_table, evaluate, read_claims
from outagefl.analysis.indexes import read_index
from outagefl.analysis.notes import data_note
from outagefl.analysis.results import scores
from outagefl.analysis.writers import write_csv, write_html
from outagefl.scripting import recorded

with recorded(snakemake):
    root = Path("results")
    experiments, notes = [], {}
    for name, analysis in snakemake.params.analyses.items():
        index = read_index(f"results/{snakemake.params.scale}/{name}/runs.csv")
        experiments.append(scores(index, root, analysis["tail"]))
        notes[name] = data_note(index, root)
    claims = read_claims(Path(snakemake.input.claims))
    found = evaluate(claims, experiments, snakemake.params.margins, snakemake.params.scale, notes)
    write_csv(found, snakemake.output.csv)
    write_html(claims_table(found), snakemake.output.html, f"Published claims at scale {snakemake.params.scale}")
