"""Pack the results of a scale into one zip file that others can read, check and repeat.

It holds tables, figures, claims and the report, the runs and choices they are made of, the records of how all of it was
made, configuration, code and lock files, and a page to begin with (ro-crate-preview.html). Only results that
`outagefl verify` has nothing to say against are packed. Data that were downloaded are never packed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from outagefl.commands.printing import show
from outagefl.commands.verify import SHOWN, check_results, project_of, results_of, told, unfinished
from outagefl.errors import DataError
from outagefl.workspace import claim_workspace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("results", type=Path, help="a folder of results such as results/quick")
    parser.add_argument("--output", type=Path, help="the file to write; without it results/outagefl-<scale>.zip")
    parser.add_argument("--with-inputs", action="store_true", help="also partitions, graphs, availability and the like")


def execute(arguments: argparse.Namespace) -> int:
    """Verify, pack, and say where the archive is."""
    from outagefl.provenance.archive import pack  # noqa: PLC0415 (the other commands do without its libraries)

    results, scale = results_of(arguments.results)
    if not (project := project_of(results)).joinpath("workflow", "outagefl").is_dir():
        raise DataError(
            f"{project}: lacks the code in workflow/outagefl; expected a copy of the repository with the results"
        )
    claim_workspace(results)
    check = check_results(results, scale)
    if check.findings():
        show(told(check, SHOWN))
        raise DataError(f"{arguments.results}: not packed, because of what was found")
    for note in unfinished(results / scale):
        print(note, file=sys.stderr)
    target = arguments.output or arguments.results.parent / f"outagefl-{scale}.zip"
    pack(results, scale, project, target, with_inputs=arguments.with_inputs)
    print(target)
    return 0
