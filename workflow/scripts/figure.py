"""Draw one figure of an experiment."""

from importlib import import_module
from pathlib import Path

from outagefl.analysis.notes import data_note
from outagefl.analysis.results import read_index
from outagefl.analysis.style import save
from outagefl.scripting import logged

with logged(snakemake.log[0]):
    root = Path("results")
    index = read_index(snakemake.input[0])
    draw = import_module(f"outagefl.analysis.figures.{snakemake.wildcards.figure}").draw
    figure = draw(index, root, **snakemake.params.options)
    save(figure, snakemake.output.pdf, snakemake.output.png, note=data_note(index, root))
