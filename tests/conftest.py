"""Fixtures for all tests."""

import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).parent.parent

# Read by PyTorch when it is imported. More threads than cores (threads times workers) only wait for each other, and one
# thread gives the same bits everywhere. Snakemake sets it for its jobs itself.
os.environ["OMP_NUM_THREADS"] = "1"

# What `make test ARGS=…` was given is no wish for what the tests make.
OPTIONS = re.findall(r"^(\w+) \?=", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "MFLAGS", *OPTIONS):
    os.environ.pop(name, None)

# In the background of a shell Ctrl-C is ignored, and what is started there inherits that; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data that is not part of the repository; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("OUTAGEFL_SHARED", REPOSITORY.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (set OUTAGEFL_SHARED)")
    return folder
