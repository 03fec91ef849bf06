"""Describe one data set, partition or trace in a table and a figure."""

from pathlib import Path

from outagefl.analysis.style import save
from outagefl.analysis.writers import write_csv
from outagefl.datasets import arrays
from outagefl.describe import datasets, partitions, traces
from outagefl.describe.notes import told
from outagefl.inputs import partitions as partition_files
from outagefl.inputs import traces as trace_files
from outagefl.scripting import recorded

with recorded(snakemake):
    inputs, output, params = snakemake.input, snakemake.output, snakemake.params
    notes = [params.source["title"]]
    if params.what == "trace":
        beside = traces.beside(trace_files.load(inputs.trace))
        write_csv(traces.summary(beside), output.statistics)
        figure = traces.draw(beside)
    else:
        data = arrays.load(Path(inputs.data))
        notes.append(data.note)
    if params.what == "dataset":
        write_csv(datasets.class_counts(data), output.classes)
        write_csv(datasets.channel_constants(data, params.source.get("published")), output.channels)
        figure = datasets.sample_sheet(data)
    if params.what == "partition":
        partition = partition_files.load(inputs.partition)
        write_csv(partitions.client_counts(partition, data), output.clients)
        figure = partitions.bubbles(partition, data)
        notes.append(f"partition {told(params.spec['partition'])}, seed {params.spec['seed']}")
    save(figure, output.pdf, output.png, note="; ".join(filter(None, notes)))
