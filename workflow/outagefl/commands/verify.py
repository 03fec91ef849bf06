"""Say which results are missing, damaged, edited or stale.

Every table, figure, claim, index, run, choice and input of a scale is compared with the checksum that was recorded when
it was made, and its record with the code and the configuration that there are now. An archive (`outagefl archive`) is
compared with its manifest and with the code in it; nothing is unpacked. Exit status 1: something is wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from outagefl.commands.printing import show
from outagefl.errors import ConfigError
from outagefl.plugins import PACKAGE
from outagefl.provenance.check import Check, Finding, check_folder
from outagefl.provenance.packed import check_archive

PROJECT = Path(__file__).parents[3]
MEND = {
    "missing": "make them again: .venv/bin/snakemake <path>; what is not wanted any more: delete its record too",
    "damaged": "delete them, and start the workflow again",
    "edited": "delete them, and start the workflow again",
    "stale": "start the workflow again",
    "unrecorded": "made by hand or by an earlier version: delete them, and start the workflow again",
    "additional": "put there after the archive was made",
    "refused": "a forged archive: nothing else of it was looked at",
}
SHOWN = 10  # of the files that one thing is wrong with


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("results", type=Path, help="a folder of results such as results/quick, or an archive")
    parser.add_argument("--all", action="store_true", help=f"name all files, not {SHOWN} of each kind")


def execute(arguments: argparse.Namespace) -> int:
    """Check and tell; 1 where something is wrong."""
    check = checked(arguments.results)
    show("\n".join([told(check, None if arguments.all else SHOWN), *unfinished(arguments.results)]))
    return 1 if check.findings() else 0


def unfinished(results: Path) -> Iterator[str]:
    """A note where the results of a scale lack what is made last: what was never made is not missing to a check."""
    if results.is_dir() and not (results / "report.html").is_file():
        lacking = "note: there is no report among the results, which is made last: they are not all there"
        yield f"{lacking}; `make reproduce SCALE={results.absolute().name}` goes on"


def checked(path: Path) -> Check:
    """The check of a folder of results or of an archive; ConfigError for anything else."""
    return check_archive(path) if path.is_file() else check_results(*results_of(path))


def check_results(results: Path, scale: str) -> Check:
    """The check of a scale, against this library."""
    return check_folder(results, scale, project_of(results), PACKAGE.parent)


def project_of(results: Path) -> Path:
    """The folder with the configuration: that of the results where it has one, else that of this library."""
    return results.parent if (results.parent / "config" / "config.yaml").is_file() else PROJECT


def results_of(path: Path) -> tuple[Path, str]:
    """The folder of all results and the scale, of a folder such as ``results/quick``; ConfigError for another one."""
    if path.is_dir() and (path.parent / "provenance").is_dir() and not (path / "config.yaml").is_file():
        raise ConfigError(f"{path}/config.yaml: no such file; `.venv/bin/snakemake {path}/config.yaml` writes it")
    if not (path / "config.yaml").is_file() or path.absolute() == PROJECT / "config":
        such = "such as results/quick, which `make reproduce SCALE=quick` makes"
        raise ConfigError(f"{path}: expected a folder with the results of a scale, {such}")
    return path.absolute().parent, path.absolute().name


def told(check: Check, shown: int | None) -> str:
    """What was found, in words; of every list only so many."""
    paths = list(check.checked)
    runs = sum(path.startswith("results/runs/") for path in paths)
    inputs, choices = (sum(path.startswith(f"results/{what}/") for path in paths) for what in ("inputs", "choices"))
    others = len(paths) - runs - inputs - choices
    counts = {"runs": runs, "inputs": inputs, "choices": choices, "files of results": others}
    findings = check.findings()
    lines = [line for kind in MEND for line in _told(kind, [each for each in findings if each.kind == kind], shown)]
    lines.append(f"checked: {', '.join(f'{count:,} {what}' for what, count in counts.items())}")
    lines.append(f"{len(findings):,} of them are not as they should be" if findings else "all as they were made")
    return "\n".join(lines)


def _told(kind: str, findings: Iterable[Finding], shown: int | None) -> list[str]:
    groups: dict[str, list[str]] = {}
    for each in findings:
        groups.setdefault(each.why, []).append(each.path)
    lines = [f"{kind} ({MEND[kind]})"] if groups else []
    for why, paths in sorted(groups.items(), key=lambda group: group[0].endswith("which is stale")):  # causes first
        lines += [f"  {why}", *(f"    {path}" for path in paths[:shown])]
        lines += [f"    and {len(paths) - shown:,} more (--all)"] if shown and len(paths) > shown else []
    return lines
