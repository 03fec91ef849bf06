"""What a command prints."""

import os
import sys


def show(text: str) -> None:
    """Print; whoever reads it, such as ``head``, may leave before the end."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
