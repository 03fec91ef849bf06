"""The templates of the page and of captions: files in the folder ``report/`` beside the workflow."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parents[3] / "report"


def template_files() -> list[Path]:
    """All that the page is made with, beside code."""
    return sorted(path for path in TEMPLATES.rglob("*.*") if not path.name.startswith("."))


def environment() -> Environment:
    """The templates of page and captions; text is escaped, and a name that has no value is an error."""
    loader = FileSystemLoader(TEMPLATES)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
