"""What Slurm gave to this job."""

from __future__ import annotations

import os

VARIABLES = (
    "SLURM_JOB_ID",
    "SLURM_JOB_PARTITION",
    "SLURMD_NODENAME",
    "SLURM_STEP_GPUS",  # the node's numbers of the GPUs; where a job sees only its own, the next says 0
    "CUDA_VISIBLE_DEVICES",
)


def allocation() -> dict[str, str]:
    """Job, partition, node and GPUs, by the names of their variables; empty where there is no such job."""
    given = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    return given if "SLURM_JOB_ID" in given else {}
