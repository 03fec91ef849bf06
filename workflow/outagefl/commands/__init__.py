"""The commands of ``python -m outagefl``: modules with ``add_arguments`` and ``execute``; a docstring is the help.

What takes long to import, such as torch, is imported only when a command is executed.
"""

import os
import sys


def show(text: str) -> None:
    """Print; whoever reads it, such as ``head``, may leave before the end."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
