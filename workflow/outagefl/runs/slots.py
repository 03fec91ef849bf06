"""One training job per GPU of a machine: a job keeps one to itself, and waits while all are taken.

Decided before CUDA starts, which reads CUDA_VISIBLE_DEVICES once. Jobs in containers with a network of their own do not
see each other's locks: show every such container other GPUs.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile

import torch

log = logging.getLogger(__name__)

POLL = 1.0  # seconds
# "GPU 0: NVIDIA A100 (UUID: GPU-…)"; of a divided GPU its parts, on indented lines below it.
LISTED = re.compile(r"UUID: (MIG-[^)]+|GPU-[^)]+(?=\)(?!\n\s+MIG)))")


@contextmanager
def gpu_slot(device: str) -> Iterator[None]:
    """Keep one of the GPUs that CUDA may use to this process, and show CUDA this one only.

    Nothing happens where there is none, or ``device`` is ``cpu``. Jobs of all users of the machine keep out of each
    other's way; what Slurm has given to a job is shared by the processes of that job alone. A job of Slurm that was
    given no GPU, as CUDA_VISIBLE_DEVICES says, takes none: those of the machine are other jobs'.
    """
    wanted = device != "cpu" and torch.backends.cuda.is_built()
    if wanted and "SLURM_JOB_ID" in os.environ and "CUDA_VISIBLE_DEVICES" not in os.environ:
        log.info("takes no GPU: Slurm has given it none (CUDA_VISIBLE_DEVICES is not set)")
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    visible = visible_devices(os.environ, listed_devices()) if wanted else {}
    if not visible:
        yield
        return
    chosen, slot = _first_free(visible, os.environ.get("SLURM_JOB_ID", ""))
    with slot:
        os.environ.update(CUDA_VISIBLE_DEVICES=chosen, CUDA_DEVICE_ORDER="PCI_BUS_ID")
        log.info("has the GPU %s", chosen)
        yield


def listed_devices() -> list[str]:
    """The UUIDs of this machine's GPUs in the order of nvidia-smi; none where it is missing or fails."""
    try:
        told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return []
    return LISTED.findall(told.stdout)


def visible_devices(environment: Mapping[str, str], listed: Sequence[str]) -> dict[str, str]:
    """What CUDA calls the GPUs it may use, in its order, and names that are the same for every process.

    CUDA_VISIBLE_DEVICES holds numbers, here those of nvidia-smi (CUDA_DEVICE_ORDER=PCI_BUS_ID), or UUIDs, perhaps
    shortened; as for CUDA, it ends at the first that is none.
    """
    if "CUDA_VISIBLE_DEVICES" not in environment:
        return {uuid: uuid for uuid in listed}

    def name(token: str) -> str | None:
        if token.isdigit():
            return listed[int(token)] if int(token) < len(listed) else None if listed else token
        if not token.startswith(("GPU-", "MIG-")):
            return None
        return next((uuid for uuid in listed if uuid.startswith(token)), token)

    named = {token.strip(): name(token.strip()) for token in environment["CUDA_VISIBLE_DEVICES"].split(",")}
    return {token: known for token, known in takewhile(lambda item: item[1], named.items()) if known}


def _first_free(visible: Mapping[str, str], scope: str) -> tuple[str, socket.socket]:
    told = False
    while True:
        for token, name in visible.items():
            with suppress(OSError):
                return token, _taken(f"{scope} {name}")
        if not told:
            log.info("waits for a free GPU: %d in use", len(visible))
            told = True
        time.sleep(POLL)


def _taken(name: str) -> socket.socket:
    """A lock of that name on this machine, or OSError: an address without a file, which the kernel frees at the end."""
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(f"\0outagefl-gpu-{hashlib.sha256(name.encode()).hexdigest()}")
    except OSError:
        lock.close()
        raise
    return lock
