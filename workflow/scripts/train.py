"""Train the missing runs of one job."""

from pathlib import Path

from outagefl.runs.interrupts import listen
from outagefl.scripting import logged

with logged(snakemake.log[0]):
    listen()
    from outagefl.runs.batch import train_missing  # torch takes seconds, and signals may come before
    from outagefl.runs.jobs import read_job
    from outagefl.runs.slots import gpu_slot

    root = Path("results")
    runs = read_job(root, snakemake.wildcards.job)
    with gpu_slot(snakemake.params.device):
        train_missing(runs, root, snakemake.params.device, snakemake.params.checkpoint_minutes)
