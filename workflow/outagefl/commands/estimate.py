"""Say what the workflow will cost: time, memory, disk and downloads, of what is missing and of everything.

From recorded costs, see README; called in the workflow's folder.
"""

from __future__ import annotations

import argparse
import logging

from outagefl.commands.printing import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--cores", default="all", help="a number, or all")
    parser.add_argument("--json", action="store_true", help="print numbers for machines")
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="as for Snakemake")


def execute(arguments: argparse.Namespace) -> int:
    """Print the estimate."""
    from outagefl.estimate.command import estimate  # noqa: PLC0415 (torch takes seconds)

    logging.disable(logging.WARNING)  # what is told about inputs that are drawn for the estimate alone
    try:
        show(estimate(arguments.config, arguments.cores, as_json=arguments.json))
    finally:
        logging.disable(logging.NOTSET)
    return 0
