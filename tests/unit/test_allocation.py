"""What is told of the job a process belongs to."""

import pytest

from outagefl.provenance.allocation import VARIABLES, allocation


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without a job."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_nothing_is_told_outside_of_jobs(outside):
    outside.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert allocation() == {}


def test_a_job_has_a_number_and_what_else_slurm_says(outside):
    outside.setenv("SLURM_JOB_ID", "17")
    outside.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert allocation() == {"SLURM_JOB_ID": "17", "CUDA_VISIBLE_DEVICES": "0"}
