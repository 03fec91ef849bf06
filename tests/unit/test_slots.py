"""One training job per GPU of a machine; the GPUs are fakes that only nvidia-smi knows of."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from outagefl.runs import slots
from outagefl.runs.slots import gpu_slot, listed_devices, visible_devices

FORK = get_context("fork")
WAITS = "waits for a free GPU: {} in use"


class Job:
    """A process that asks for a slot, says which GPU CUDA would see, or that it waits, and keeps it until told."""

    def __init__(self, device: str, environment: dict[str, str]) -> None:
        self.line, end = FORK.Pipe()
        self.process = FORK.Process(target=_job, args=(end, device, environment))
        self.process.start()
        end.close()

    def says(self, seconds: float = 60) -> str:
        assert self.line.poll(seconds), "said nothing"
        return self.line.recv()

    def end(self) -> None:
        self.line.send("end")
        self.process.join(60)
        assert self.process.exitcode == 0


def _job(line, device: str, environment: dict[str, str]) -> None:
    class Tell(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "waits" in record.getMessage():
                line.send(record.getMessage())

    os.environ.update(environment)
    slots.POLL = 0.02
    slots.log.setLevel(logging.INFO)
    slots.log.addHandler(Tell())
    with gpu_slot(device):
        line.send(os.environ.get("CUDA_VISIBLE_DEVICES", "unset"))
        line.recv()


@contextmanager
def jobs(count: int, device: str = "auto", **environment: str) -> Iterator[list[Job]]:
    """So many jobs at once, none of which outlives the body."""
    started = [Job(device, environment) for _ in range(count)]
    try:
        yield started
    finally:
        for job in started:
            job.process.kill()
            job.process.join()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes this a machine with so many GPUs; their UUIDs, which no other test has."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def has(count: int) -> list[str]:
        uuids = [f"GPU-{number}-{os.getpid()}-{tmp_path.name}" for number in range(count)]
        nvidia_smi(tmp_path, "".join(f"GPU {n}: NVIDIA A100 (UUID: {uuid})\n" for n, uuid in enumerate(uuids)))
        return uuids

    return has


def nvidia_smi(folder: Path, told: str, status: int = 0) -> None:
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n[ \"$*\" = -L ] || exit 9\ncat <<'END'\n{told}END\nexit {status}\n")
    tool.chmod(0o755)


def test_no_two_jobs_have_one_gpu_all_are_used_and_the_others_wait_once_told(machine):
    uuids = machine(3)
    with jobs(5) as started:
        heard = [job.says() for job in started]
        holding = {told: job for told, job in zip(heard, started, strict=True) if told in uuids}
        waiting = [job for told, job in zip(heard, started, strict=True) if told == WAITS.format(3)]
        assert sorted(holding) == uuids
        assert len(waiting) == 2
        assert not any(job.line.poll(0.2) for job in waiting)  # told once, though it has looked again
        holding.pop(uuids[1]).end()
        [line] = wait([job.line for job in waiting], 60)
        [lucky] = [job for job in waiting if job.line is line]
        assert lucky.says() == uuids[1]
        holding.pop(uuids[0]).process.kill()  # SIGKILL frees a slot as well
        [last] = [job for job in waiting if job is not lucky]
        assert last.says() == uuids[0]


def test_the_order_of_the_environment_is_kept_and_numbers_are_the_gpus_of_uuids(machine):
    uuids = machine(3)
    with jobs(1, CUDA_VISIBLE_DEVICES="2,0") as [first]:
        assert first.says() == "2"
        with jobs(2) as others:  # see all: 0 and 1 are left
            assert {job.says() for job in others} == set(uuids[:2])
            with jobs(1, CUDA_VISIBLE_DEVICES="2,0") as [last]:
                assert last.says() == WAITS.format(2)


def test_cuda_counts_as_nvidia_smi_does(machine, monkeypatch):
    machine(2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with gpu_slot("cuda"):
        assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


@pytest.mark.parametrize(
    ("device", "environment", "seen"),
    [
        ("cpu", {}, "unset"),
        ("auto", {"CUDA_VISIBLE_DEVICES": ""}, ""),
        ("cuda", {"CUDA_VISIBLE_DEVICES": "-1"}, "-1"),
        ("cpu", {"SLURM_JOB_ID": "7"}, "unset"),
        ("auto", {"SLURM_JOB_ID": "7"}, ""),  # Slurm has given it no GPU
        ("cuda", {"SLURM_JOB_ID": "7"}, ""),
    ],
)
def test_who_uses_no_gpu_waits_for_none(machine, device, environment, seen):
    machine(1)
    with jobs(3, device, **environment) as started:
        assert [job.says() for job in started] == [seen] * 3


def test_what_slurm_gave_to_one_job_is_not_in_the_way_of_another(machine, tmp_path):
    """Where a job sees its own GPUs alone, every job's is number 0."""
    machine(0)
    (tmp_path / "nvidia-smi").unlink()
    with (
        jobs(1, CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID=f"a{tmp_path}") as [one],
        jobs(1, CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID=f"b{tmp_path}") as [other],
    ):
        assert one.says() == other.says() == "0"
        with jobs(1, CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID=f"a{tmp_path}") as [second]:
            assert second.says() == WAITS.format(1)


@pytest.mark.parametrize(
    ("told", "devices"),
    [
        ("", {"3": "3", "GPU-0": "GPU-0"}),
        ("0a", {}),  # CUDA stops at number 3
        ("0a 1b 2c 3d", {"3": "GPU-3d", "GPU-0": "GPU-0a"}),
    ],
)
def test_what_cuda_would_take_of_a_list(told, devices):
    listed = [f"GPU-{each}" for each in told.split()]
    assert visible_devices({"CUDA_VISIBLE_DEVICES": "3, GPU-0,x,1"}, listed) == devices


def test_a_divided_gpu_is_its_parts(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    nvidia_smi(
        tmp_path,
        "GPU 0: NVIDIA H100 (UUID: GPU-a)\n  MIG 3g.40gb     Device  0: (UUID: MIG-b)\n"
        "  MIG 3g.40gb     Device  1: (UUID: MIG-c)\nGPU 1: NVIDIA H100 (UUID: GPU-d)\n",
    )
    assert listed_devices() == ["MIG-b", "MIG-c", "GPU-d"]
    nvidia_smi(tmp_path, "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.\n", 9)
    assert listed_devices() == []
