"""The parts of the page: sections of groups of items, with their captions, made from results and their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment
from markupsafe import Markup

from outagefl.analysis.audit import PAPER, RELEASED, SWITCH
from outagefl.analysis.findings import COLUMNS, findings_table
from outagefl.errors import DataError
from outagefl.provenance.tree import Tree
from outagefl.report import content
from outagefl.report.origins import Origin, origin, require_record

RESULTS = "results/"
AUDIT = "Audit of the released code"
NUMBERS = ("expected", "computed", "low", "high")  # columns of findings


@dataclass(frozen=True)
class Item:
    """A figure or a table: its place on the page, title, caption (HTML) and origin."""

    anchor: str
    title: str
    caption: Markup
    origin: Origin
    image: content.Image | None = None
    table: Markup | None = None


@dataclass(frozen=True)
class Group:
    """What belongs together, such as an experiment: ``ran`` says in words what was run."""

    anchor: str
    title: str
    items: list[Item]
    kind: str = ""
    ran: str = ""


@dataclass(frozen=True)
class Section:
    """A study, or a kind of input: its name, title, an introduction (HTML) and groups."""

    anchor: str
    title: str
    groups: list[Group]
    intro: Markup = field(default_factory=Markup)


class Shelf:
    """Takes results of a scale by their paths, such as ``results/quick/claims.png``.

    ``given``: the main settings that commands have to give, see ``origins.to_be_given``; ``templates`` has those of
    captions.
    """

    def __init__(self, tree: Tree, root: Path, given: Mapping[str, Any], templates: Environment) -> None:
        self.tree, self.root, self.given, self.templates = tree, root, given, templates
        self.scale: str = given["scale"]

    def file(self, path: str) -> Path:
        """Where a result lies."""
        return self.root / path.removeprefix(RESULTS)

    def caption(self, name: str, **values: Any) -> Markup:
        """A caption, escaped and ready to be shown."""
        return Markup(
            self.templates.get_template(f"captions/{name}.html.jinja").render(scale=self.scale, **values).strip()
        )

    def item(self, path: str, anchor: str, title: str, caption: str = "", table: Markup | None = None) -> Item:
        """A PNG, HTML or CSV file as an item; ``caption``: the template where it is not that of the rule.

        ``table`` is shown in place of what is in the file. Raises DataError, which names the file, for a result or
        record that is missing or damaged.
        """
        record = require_record(self.tree, path)
        rule, told = record.content["rule"], record.content
        readers = {".html": content.table, ".csv": content.csv_table}
        file = self.file(path)
        if file.suffix != ".png" and table is None:
            table = readers[file.suffix](file)
        return Item(
            anchor,
            title,
            self.caption(caption or rule, settings=told["settings"], wildcards=told["wildcards"], path=path),
            origin(record, path, self.root, self.given),
            content.image(file) if file.suffix == ".png" else None,
            table,
        )

    def experiment(self, name: str, figures: Iterable[str], tables: Iterable[str], protocols: Iterable[str]) -> Group:
        """An experiment, ``<study>/<name>``; an audit where its ``protocols`` have quirks of released code alone."""
        folder = f"{RESULTS}{self.scale}/{name}"
        comparison = f"{folder}/comparison.html"
        settings = require_record(self.tree, comparison).content["settings"]
        items = [
            self.item(comparison, f"{name}/comparison", "Methods compared"),
            *(self.item(f"{folder}/tables/{kind}.html", f"{name}/tables/{kind}", spelt(kind)) for kind in tables),
            *(self.item(f"{folder}/figures/{kind}.png", f"{name}/figures/{kind}", spelt(kind)) for kind in figures),
        ]
        return Group(
            name, settings["title"], items, AUDIT if set(protocols) - {PAPER, RELEASED} else "", settings["ran"]
        )

    def theory(self, study: str, checks: Iterable[str]) -> list[Group]:
        """The theory of a study: its findings and the figure of each check; nothing where there is no check."""
        checks = list(checks)
        if not checks:
            return []
        path = f"{RESULTS}{self.scale}/findings.csv"
        found = read_findings(self.file(path))
        table = content.frame_table(findings_table(found[found["study"] == study]))
        items = [self.item(path, f"{study}/theory/findings", "Findings", table=table)]
        for check in checks:
            figure = f"{RESULTS}{self.scale}/{study}/theory/{check}.png"
            items.append(self.item(figure, f"{study}/theory/{check}", spelt(check)))
        return [Group(f"{study}/theory", "Theory", items, ran="Computed, nothing is trained.")]


def spelt(name: str) -> str:
    """The title of a figure, table or check: ``Self weight`` for ``self_weight``."""
    return name.replace("_", " ").capitalize()


def read_findings(path: Path) -> pd.DataFrame:
    """The findings of all checks; DataError for a file that is none."""
    try:
        table = pd.read_csv(path, keep_default_na=False, na_values={name: [""] for name in NUMBERS})
        return table[COLUMNS]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path}: not a table of findings ({error}); delete it and start the workflow again") from None


def of_studies(
    shelf: Shelf, configuration: Mapping[str, Any], shown: Mapping[str, Any], checks: Iterable[str]
) -> list[Section]:
    """A section for each study of the resolved ``configuration``.

    ``shown``: experiment → its ``figures`` and ``tables``; ``checks``: the theory checks, ``<study>/<check>``.
    """
    sections = []
    for study in configuration["studies"]:
        settings = configuration["study_settings"][study]
        groups = []
        for name in [name for name in shown if name.startswith(f"{study}/")]:
            protocols = settings["experiments"][name.split("/")[1]].get("factors", {}).get(SWITCH, [])
            groups.append(shelf.experiment(name, shown[name]["figures"], shown[name]["tables"], protocols))
        groups.sort(key=lambda group: bool(group.kind))
        own = [each.split("/")[1] for each in checks if each.startswith(f"{study}/")]
        sections.append(
            Section(study, settings["title"], [*groups, *shelf.theory(study, own)], shelf.caption("study", study=study))
        )
    return sections


def of_descriptions(shelf: Shelf, described: Mapping[str, Mapping[str, Sequence[str]]]) -> list[Section]:
    """A section for each kind of input. ``described``: kind → name → paths of CSV and PNG files."""
    return [
        Section(
            what,
            f"{spelt(what)}s" if what != "probability" else "Probabilities of being available",
            [
                Group(
                    f"{what}/{name}",
                    name,
                    [
                        shelf.item(path, f"{what}/{name}/{Path(path).stem}", spelt(Path(path).stem), "describe")
                        for path in paths
                    ],
                )
                for name, paths in names.items()
            ],
        )
        for what, names in described.items()
        if names
    ]
