"""Memory that training frees and takes again."""

import ctypes
import os
import subprocess
import sys

import pytest

TAKEN_AGAIN = """
import resource
from outagefl.training.allocator import keep_freed_memory
if {kept}:
    keep_freed_memory()
for _ in range(5):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    [bytearray({size}) for _ in range(8)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_blocks_of_activations_are_not_given_back_to_the_system_and_faulted_in_again() -> None:
    """Page faults of taking eight blocks of 24 MiB once more, 4 KiB each: none with what was freed still at hand."""
    faults = {}
    for kept in (False, True):
        command = [sys.executable, "-c", TAKEN_AGAIN.format(kept=kept, size=24 << 20)]
        faults[kept] = int(subprocess.check_output(command, env={**os.environ, "PYTHONPATH": "workflow"}))
    assert faults[True] < 100
    assert faults[False] > 10 * faults[True]
