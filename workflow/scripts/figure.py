"""Draw one figure of an experiment."""

from pathlib import Path

from outagefl import components
from outagefl.analysis.indexes import read_index
from outagefl.analysis.notes import data_note
from outagefl.analysis.style import save
from outagefl.scripting import recorded

with recorded(snakemake):
    root = Path("results")
    index = read_index(snakemake.input.index)
    settings = {"kind": snakemake.wildcards.figure, **snakemake.params.options}
    draw, options = components.load("figure", settings)
    save(draw(index, root, **options), snakemake.output.pdf, snakemake.output.png, note=data_note(index, root))
