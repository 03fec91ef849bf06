"""Say what Snakemake would run in this folder, and why."""

from __future__ import annotations

import argparse

from outagefl.commands.printing import show
from outagefl.runs.why import explain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("target", nargs="?", help="a file in results/ or an experiment, e.g. sfg/outages; default: all")
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="as for Snakemake")


def execute(arguments: argparse.Namespace) -> int:
    """Print the reasons."""
    show(explain(arguments.target, arguments.config))
    return 0
