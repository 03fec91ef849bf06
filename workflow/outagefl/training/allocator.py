"""How the C library keeps memory that training frees and takes again at every step."""

from __future__ import annotations

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # glibc's mallopt(3)
LARGEST_KEPT = 32 << 20  # bytes; glibc takes no more
NEVER = 2**31 - 1


def keep_freed_memory() -> None:
    """Let the process keep freed blocks of up to 32 MiB for its next step, where the C library is glibc.

    By default glibc gives large blocks, such as a layer's activations, back to the system at once, and every step pays
    for fresh pages again: a third of a step of the FedSWE network. Does nothing under another C library. Blocks that
    are larger, such as the matrix of all models, are given back as before.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, LARGEST_KEPT)
        mallopt(TRIM_THRESHOLD, NEVER)
