"""Lay out one further table of an experiment."""

from pathlib import Path

from outagefl import components
from outagefl.analysis.indexes import read_index
from outagefl.analysis.notes import data_note
from outagefl.analysis.writers import write_csv, write_html, write_latex
from outagefl.scripting import recorded

with recorded(snakemake):
    root = Path("results")
    index = read_index(snakemake.input.index)
    settings = {"kind": snakemake.wildcards.table, **snakemake.params.options}
    tabulate, options = components.load("table", settings)
    table = tabulate(index, root, **options)
    note = data_note(index, root)
    caption = f"{snakemake.params.title}: {table.caption}" + (f" Data: {note}." if note else "")
    name = f"{snakemake.wildcards.experiment}-{snakemake.wildcards.table}".replace("/", "-").replace("_", "-")
    write_csv(table.tidy, snakemake.output.csv)
    write_latex(table.shown, snakemake.output.tex, caption, name, table.marks)
    write_html(table.shown, snakemake.output.html, caption, table.marks)
