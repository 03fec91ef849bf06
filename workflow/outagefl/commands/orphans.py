"""List runs, inputs, choices and checkpoints that nothing asks for any more, and delete them on request.

An orphan is in no experiment of any study at any scale, with config/config.yaml and the settings given, and is nothing
that existing tables or figures were made from. Give the settings that you run with: LOCAL, and CONFIG with overrides.
The checkpoint of a run is one, too, when the run is or is finished.
Results of experiments that are no longer declared keep their runs until their folder in results/<scale>/ is deleted.
Nothing is deleted without --remove, and while a workflow is at work nothing is deleted at all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from outagefl.commands.printing import show
from outagefl.config import given
from outagefl.errors import ConfigError, DataError
from outagefl.provenance import orphans
from outagefl.workspace import claim_workspace

CONFIG, RESULTS = Path("config"), Path("results")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--remove", action="store_true", help="delete what was listed, after asking")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="as for Snakemake; but the scale")


def execute(arguments: argparse.Namespace) -> int:
    """List, and delete what was listed if that is wanted."""
    if arguments.remove:
        claim_workspace(RESULTS)
        if lock := orphans.busy(RESULTS):
            raise DataError(f"{lock}: held by a training job that is still at work; wait until it has finished")
    wanted, named = orphans.wanted(given(arguments.config), CONFIG), orphans.named(RESULTS)
    found = list(orphans.orphans(RESULTS, wanted | named))
    show(told(found, len([path for path in named - wanted if path.startswith("runs/")])))
    if found and arguments.remove and agreed(arguments.yes):
        orphans.remove(found, RESULTS)
        print("Deleted.")
    return 0


def told(found: Sequence[orphans.Orphan], kept: int) -> str:
    """A line for each orphan, and for all of them."""
    lines = [f"{size(each.size):>7}  {each.made:%Y-%m-%d %H:%M}  {each.kind:6}  {each.path}" for each in found]
    if kept:
        lines.append(f"kept: {kept:,} runs that no experiment has, but that existing results were made from")
    lines.append(f"{len(found):,} orphans, {size(sum(each.size for each in found))}")
    return "\n".join(lines)


def size(count: float) -> str:
    """Bytes to be read."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def agreed(yes: bool) -> bool:
    """Whether the user wants the listed orphans deleted; ConfigError where nobody can be asked."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError("--remove: no terminal to ask on; expected --yes with it")
    return input("Delete these? [y/N] ").strip().lower() == "y"
