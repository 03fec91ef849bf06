"""What an archive of results says of itself: RO-Crate metadata for machines, a page for readers.

Of the library ``rocrate`` only the metadata is used: its archives hold times, and its pages text that is not escaped.
RO-Crate: https://www.researchobject.org/ro-crate/
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from jinja2 import Environment
from rocrate.model import ComputationalWorkflow, ContextEntity
from rocrate.rocrate import ROCrate

from outagefl.provenance.records import Record
from outagefl.provenance.tree import Tree

WORKFLOW = "workflow/Snakefile"
METADATA, PREVIEW = "ro-crate-metadata.json", "ro-crate-preview.html"
FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}
DESCRIPTION = "Published claims about federated learning with unreliable clients, held against runs of our own."
FACTS = ("commit", "python", "packages", "machine", "device")  # entries of records that the page tells
PAGE = Path(__file__).with_name("preview.html.j2")
OVERVIEW = {
    "report.html": "everything in one page",
    "claims.html": "published value, ours, interval, verdict",
    "findings.html": "statements of the papers' theory, held against computations",
    "runs.csv": "every run",
    "config.yaml": "the configuration, fully resolved",
}
LICENSE = "https://spdx.org/licenses/MIT"


@dataclass(frozen=True)
class Member:
    """A file of an archive: its checksum and its size in bytes."""

    sha256: str
    size: int


def records(tree: Tree, scale: str) -> dict[str, Record]:
    """The records of a scale's results and of all they were made from, by the record's path."""
    found = {str(tree.record_file(path)): tree.record(path) for path in tree.behind(tree.made(scale))}
    return {path: record for path, record in sorted(found.items()) if record}


def ended(record: Record) -> str:
    """When a job or run had finished, to the second."""
    end = datetime.fromisoformat(record.content["started"]) + timedelta(seconds=record.content["seconds"])
    return end.isoformat(timespec="seconds")


def describe(tree: Tree, scale: str, members: Mapping[str, Member]) -> bytes:
    """The metadata of an archive: its files, what made which of them from which, and the packages that took part."""
    made = records(tree, scale)
    crate = ROCrate()
    crate.name = f"Results of outagefl at scale {scale}"
    crate.description = DESCRIPTION
    crate.license = LICENSE
    crate.datePublished = max(map(ended, made.values()))
    packages = {item for record in made.values() for item in record.content["packages"].items()}
    software = [
        crate.add(
            ContextEntity(
                crate, f"#{name}-{version}", {"@type": "SoftwareApplication", "name": name, "version": version}
            )
        )
        for name, version in sorted(packages)
    ]
    files = {
        path: crate.add_file(dest_path=path, properties=_properties(path, each))
        for path, each in members.items()
        if path != WORKFLOW
    }
    workflow = ComputationalWorkflow(crate, dest_path=WORKFLOW, properties=_properties(WORKFLOW, members[WORKFLOW]))
    workflow["softwareRequirements"] = software
    files[WORKFLOW] = crate.mainEntity = crate.add(workflow)
    for path, record in made.items():
        crate.add_action(
            workflow,
            identifier=f"#{path}",
            object=_within(record.inputs, files),
            result=_within(record.made, files),
            properties={
                "name": f"{record.content.get('rule', 'train')} of {', '.join(record.made)}",
                "startTime": record.content["started"],
                "endTime": ended(record),
                "subjectOf": {"@id": path},
            },
        )
    return json.dumps(crate.metadata.generate(), indent=1, ensure_ascii=False).encode()


def _properties(path: str, member: Member) -> dict[str, str]:
    suffix = path[path.rfind(".") :]
    known = {"encodingFormat": FORMATS[suffix]} if suffix in FORMATS else {}
    return {"name": path, "contentSize": str(member.size), "sha256": member.sha256, **known}


def _within(paths: Iterable[str], files: Mapping[str, Any]) -> list[Any]:
    """The files among some paths that are packed; a data set that is a folder is described by its record alone."""
    return [files[path] for path in paths if path in files]


def preview(tree: Tree, scale: str, members: Mapping[str, Member]) -> bytes:
    """The page of an archive: what to open first, how it was made, and the tables and figures of every experiment."""
    made, folder = records(tree, scale).values(), f"results/{scale}"
    shown = [path for path in members if path.startswith(f"{folder}/") and path.count("/") > 3]
    experiments: dict[str, list[str]] = {}
    for path in shown:
        experiments.setdefault("/".join(path.split("/")[2:4]), []).append(path)
    page = Environment(autoescape=True).from_string(PAGE.read_text(encoding="utf-8"))
    text = page.render(
        title=f"Results of outagefl at scale {scale}",
        description=DESCRIPTION,
        overview=[(f"{folder}/{name}", told) for name, told in OVERVIEW.items() if f"{folder}/{name}" in members],
        facts={what: values for what in FACTS if (values := _values(made, what))},
        experiments=experiments,
    )
    return text.encode()


def _values(made: Iterable[Record], what: str) -> list[str]:
    """All values of an entry of some records, as text."""
    found = [record.content.get(what) for record in made]
    told = [
        " ".join(f"{name} {value}" for name, value in each.items()) if isinstance(each, dict) else each
        for each in found
    ]
    return sorted({str(each) for each in told if each})
