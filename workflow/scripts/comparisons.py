"""Compare every method with each baseline, and lay the result out as the study table."""

from pathlib import Path

from outagefl.analysis.comparison_table import study_table
from outagefl.analysis.comparisons import comparisons
from outagefl.analysis.indexes import read_index
from outagefl.analysis.looks import label
from outagefl.analysis.notes import data_note
from outagefl.analysis.results import scores
from outagefl.analysis.writers import write_csv, write_html, write_latex
from outagefl.runs.analyses import baselines
from outagefl.scripting import recorded

with recorded(snakemake):
    root = Path("results")
    analysis = snakemake.params.analysis
    index = read_index(snakemake.input[0])
    runs = scores(index, root, analysis["tail"])
    against = baselines(analysis)
    table = comparisons(runs, against, analysis["equivalence_margin"])
    note = data_note(index, root)
    caption = (
        f"{snakemake.params.title}: mean ± half the 95 % t interval over seeds, paired differences to "
        f"{' and to '.join(map(label, against))}; paired t-test, Holm-corrected: * p < .05, ** p < .01, *** p < .001."
    ) + (f" Data: {note}." if note else "")
    write_csv(table, snakemake.output.comparisons)
    shown = study_table(table)
    write_latex(shown, snakemake.output.tex, caption, snakemake.wildcards.experiment.replace("/", "-"))
    write_html(shown, snakemake.output.html, caption)
