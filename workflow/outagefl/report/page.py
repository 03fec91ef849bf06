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
    REPRODUCED: "significantly there, and the published size within our interval, or exceeded; "
    "a bound, a value or parity: significantly within its margin",
    DIRECTION_ONLY: "significantly there, but smaller",
    NOT_REPRODUCED: "significantly smaller than what counts as an effect, or the other way round; "
    "a bound, a value or parity: significantly outside its margin",
    UNRESOLVED: "with so many seeds neither can be told",
    NOT_RUN: "its experiment, methods, levels or full setting are not part of the scale",
}


@dataclass(frozen=True)
class Overview:
    """The first page of results: verdicts counted, what can be decided, the picture, the facts, all claims."""

    counts: Mapping[str, Mapping[str, Mapping[str, int]]]
    titles: Mapping[str, str]
    meanings: Mapping[str, str]
    decidable: Sequence[str]
    figure: Item
    facts: Sequence[Fact]
    caption: Markup
    rows: Sequence[Row]
    origin: Origin


def shelf_of(results: Path, given: Mapping[str, Any]) -> Shelf:
    """The results of a scale below the folder ``results``, with their records."""
    return Shelf(Tree(results, results.parent), results, given, environment())


def write_results(
    target: Path,
    results: Path,
    given: Mapping[str, Any],
    shown: Mapping[str, Mapping[str, Sequence[str]]],
    checks: Sequence[str],
) -> None:
    """Write the page of a scale's results: claims, studies, theory.

    ``given``: the main settings that commands have to give, the scale among them; ``shown``: experiment → its
    ``figures`` and ``tables``; ``checks``: the theory checks, ``<study>/<check>``.
    Raises DataError or ConfigError, which name the file, for a result or record that is missing or damaged.
    """
    shelf, scale = shelf_of(results, given), given["scale"]
    configuration = read_yaml(results / scale / "config.yaml")
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
    target: Path, results: Path, given: Mapping[str, Any], described: Mapping[str, Mapping[str, Sequence[str]]]
) -> None:
    """Write the page of what goes into a scale's studies.

    ``given``: the main settings that commands have to give, scale and studies among them; ``described``: kind of input
    → name → paths of CSV and PNG.
    Raises DataError, which names the file, for a description or record that is missing or damaged.
    """
    shelf = shelf_of(results, given)
    studies = ", ".join(given["studies"])
    lead = f"Data sets, partitions, probabilities and traces of {studies} and what was asked for beside them."
    _write(target, f"What goes into scale {shelf.scale}", lead, shelf, of_descriptions(shelf, described))


def _overview(shelf: Shelf, configuration: Mapping[str, Any], sections: Sequence[Section]) -> Overview:
    folder = f"{RESULTS}{shelf.scale}"
    table, index, resolved = (f"{folder}/{name}" for name in ("claims.csv", "runs.csv", "config.yaml"))
    evaluated = read_claims(shelf.file(table))
    groups = [group for section in sections for group in section.groups]
    items = [item for group in groups for item in group.items]
    behind = records_behind(
        shelf.tree, [table, index, resolved, *(file for item in items for file in item.origin.files)]
    )
    compared = {f"{RESULTS}{run}/metrics.parquet" for run in read_index(shelf.file(index))["run"]}
    counted = counts(evaluated)
    return Overview(
        counts={study: counted[study] for study in configuration["studies"] if study in counted},
        titles={name: settings["title"] for name, settings in configuration["study_settings"].items()},
        meanings=MEANINGS,
        decidable=decidable(evaluated),
        figure=shelf.item(f"{folder}/claims.png", "picture", "All claims that were tested", "claims_figure"),
        facts=facts(behind, compared, configuration),
        caption=shelf.caption("claims"),
        rows=rows(evaluated, {group.anchor for group in groups} | {item.anchor for item in items}),
        origin=origin(require_record(shelf.tree, table), table, shelf.root, shelf.given),
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
