"""``python -m outagefl COMMAND``: what can be done with runs and results without Snakemake."""

from __future__ import annotations

import argparse
import logging
import sys

from outagefl.commands import archive, claims, estimate, orphans, run, verify, why
from outagefl.errors import OutageflError

COMMANDS = {
    "run": run,
    "estimate": estimate,
    "why": why,
    "claims": claims,
    "verify": verify,
    "orphans": orphans,
    "archive": archive,
}


def main() -> int:
    """Parse the command line and execute the command; a user's mistake ends in one line and exit status 1."""
    parser = argparse.ArgumentParser(prog="outagefl", description=__doc__)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name, command in COMMANDS.items():
        told = command.__doc__ or ""
        own = subparsers.add_parser(
            name,
            help=told.split("\n")[0].rstrip(".").lower(),
            description=told,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(own)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        status: int = COMMANDS[arguments.command].execute(arguments)
    except (OutageflError, OSError) as error:  # OSError: the machine's, such as a full disk
        sys.exit(f"outagefl: {error}")
    return status


if __name__ == "__main__":
    sys.exit(main())
