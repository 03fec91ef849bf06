"""Describe one matrix of probabilities, and the availability drawn from it, in a table and a figure."""

from pathlib import Path

from outagefl.analysis.style import save
from outagefl.analysis.writers import write_csv
from outagefl.describe.notes import told
from outagefl.describe.probabilities import Outages, client_table, draw
from outagefl.inputs import availabilities, probabilities
from outagefl.scripting import recorded

with recorded(snakemake):
    inputs, output, spec = snakemake.input, snakemake.output, snakemake.params.spec
    needs = {"partition": Path(inputs.partition)} if inputs.partition else {}
    base = probabilities.base_probabilities(spec, needs)
    drawn = probabilities.load(inputs.probability), availabilities.load(inputs.availability)
    outages = Outages(base, *drawn, groups=spec["probability"].get("groups", 1))
    write_csv(client_table(outages), output.clients)
    behind = [f"{what} {told(spec[what])}" for what in ("dataset", "partition", "probability") if what in spec]
    save(draw(outages), output.pdf, output.png, note="; ".join([*behind, f"seed {spec['seed']}"]))
