"""Run one theory check: its findings, the values of its figure, and the figure."""

from importlib import import_module

from outagefl import components
from outagefl.analysis.findings import tabulate
from outagefl.analysis.style import save
from outagefl.analysis.writers import write_csv
from outagefl.randomness import generator
from outagefl.scripting import recorded

with recorded(snakemake):
    settings, output, wildcards = snakemake.params.settings, snakemake.output, snakemake.wildcards
    check, options = components.load("theory check", settings)
    draw = import_module(components.module_name("theory check", settings["kind"])).draw
    checked = check(generator(0, f"theory {settings['kind']}"), **options)
    write_csv(tabulate(checked.findings, wildcards.study, wildcards.check), output.findings)
    write_csv(checked.values, output["values"])
    save(draw(checked.values), output.pdf, output.png)
