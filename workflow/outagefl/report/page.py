"""Fill the page's templates and write it: one file with its style, its script and all figures in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from outagefl.analysis.claims_figure import LOOKS
from outagefl.analysis.indexes import read_index
from outagefl.analysis.verdicts import DIRECTION_ONLY, NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNRESOLVED
from outagefl.commands.claims import read as read_claims
from outagefl.config import read_yaml
from outagefl.files import replacing
from outagefl.provenance.tree import Tree
from outagefl.report.claims import Row, counts, decidable, rows
from outagefl.report.facts import Fact, facts, records_behind
from outagefl.report.origins import Origin, origin, require_record
from outagefl.report.sections import RESULTS, Item, Section, Shelf, of_descriptions, of_studies
from outagefl.report.templates import TEMPLATES, environment

COLOURS = {verdict: looks["color"] for verdict, looks in LOOKS.items()}
NUMBERS = {2: "Two", 3: "Three"}
MEANINGS = {
    REPRODUCED: "significantly there, of the published size or more; a bound or value: significantly within its margin",
    DIRECTION_ONLY: "significantly there, but smaller than published",
    NOT_REPRODUCED: "significantly smaller than what counts as an effect, or the other way round; outside its margin",
    UNRESOLVED: "with so many seeds neither can be told",
    NOT_RUN: "its experiment, methods, levels or full setting are not part of the scale",
}


@dataclass(frozen=True)
class Overview:
    """The first page of results: verdicts counted, what can be decided, the picture, the facts, all claims."""

    counts: Mapping[str, Mapping[str, int]]
    titles: Mapping[str, str]
    meanings: Mapping[str, str]
    decidable: Sequence[str]
    figure: Item
    facts: Sequence[Fact]
    caption: Markup
    rows: Sequence[Row]
    origin: Origin


def shelf_of(results: Path, scale: str, studies: Sequence[str]) -> Shelf:
    """The results of a scale below the folder ``results``, with their records."""
    return Shelf(Tree(results, results.parent), results, scale, studies, environment())


def write_results(
    target: Path, results: Path, scale: str, shown: Mapping[str, Mapping[str, Sequence[str]]], checks: Sequence[str]
) -> None:
    """Write the page of a scale's results: claims, studies, theory.

    ``shown``: experiment → its ``figures`` and ``tables``; ``checks``: the theory checks, ``<study>/<check>``.
    Raises DataError or ConfigError, which name the file, for a result or record that is missing or damaged.
    """
    configuration = read_yaml(results / scale / "config.yaml")
    shelf = shelf_of(results, scale, configuration["studies"])
    sections = of_studies(shelf, configuration, shown, checks)
    first = _overview(shelf, configuration, sections)
    decided: dict[str, list[Row]] = {}
    for row in first.rows:
        if row.verdict != NOT_RUN:
            decided.setdefault(row.group, []).append(row)
    papers = "One paper" if len(sections) == 1 else f"{NUMBERS.get(len(sections), len(sections))} papers"
    lead = f"{papers} about federated learning with unreliable clients and links, held against runs of our own."
    _write(target, f"Published claims at scale {scale}", lead, shelf, sections, overview=first, decided=decided)


def write_descriptions(
    target: Path,
    results: Path,
    scale: str,
    studies: Sequence[str],
    described: Mapping[str, Mapping[str, Sequence[str]]],
) -> None:
    """Write the page of what goes into a scale's studies. ``described``: kind of input → name → paths of CSV and PNG.

    Raises DataError, which names the file, for a description or record that is missing or damaged.
    """
    shelf = shelf_of(results, scale, studies)
    lead = (
        f"Data sets, partitions, probabilities and traces of {', '.join(studies)} and what was asked for beside them."
    )
    _write(target, f"What goes into scale {scale}", lead, shelf, of_descriptions(shelf, described))


def _overview(shelf: Shelf, configuration: Mapping[str, Any], sections: Sequence[Section]) -> Overview:
    folder = f"{RESULTS}{shelf.scale}"
    table, index = f"{folder}/claims.csv", f"{folder}/runs.csv"
    evaluated = read_claims(shelf.file(table))
    groups = [group for section in sections for group in section.groups]
    places = {group.anchor for group in groups} | {item.anchor for group in groups for item in group.items}
    wanted = {f"{RESULTS}{run}/metrics.parquet" for run in read_index(shelf.file(index))["run"]}
    counted = counts(evaluated)
    return Overview(
        {study: counted[study] for study in shelf.studies if study in counted},
        {name: settings["title"] for name, settings in configuration["study_settings"].items()},
        MEANINGS,
        decidable(evaluated),
        shelf.item(f"{folder}/claims.png", "picture", "All claims that were tested", "claims_figure"),
        facts(records_behind(shelf.tree, shelf.scale), wanted, configuration),
        shelf.caption("claims"),
        rows(evaluated, places),
        origin(require_record(shelf.tree, table), table, shelf.root, shelf.scale, shelf.studies),
    )


def _write(target: Path, title: str, lead: str, shelf: Shelf, sections: Sequence[Section], **more: Any) -> None:
    """Fill the page; only the page's own script may run in it, which is what the digest is for."""
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = shelf.templates.get_template("page.html.jinja").render(
        **{"overview": None, "decided": {}, **more},
        title=title,
        lead=lead,
        scale=shelf.scale,
        sections=sections,
        colours=COLOURS,
        style=Markup(style),
        script=Markup(script),
        script_digest=f"sha256-{digest}",
    )
    with replacing(target) as new:
        new.write_text(page, encoding="utf-8")
