"""Train the missing runs of one job."""

from pathlib import Path

from outagefl.runs.batch import train_missing
from outagefl.runs.jobs import read_job
from outagefl.runs.slots import gpu_slot
from outagefl.scripting import logged

with logged(snakemake.log[0]), gpu_slot(snakemake.params.device):
    root = Path("results")
    train_missing(read_job(root, snakemake.wildcards.job), root, snakemake.params.device)
