"""What a description says about where its numbers come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outagefl.sources.catalog import Source


def title(source: Source) -> str:
    """The catalog's title of a source; of one from a local path, which may hold anything, its name and the path's."""
    if not source.local:
        return str(source.entry["title"])
    return f"{source.name}, local {'folder' if source.local.is_dir() else 'file'} {source.local.name}"


def told(settings: Mapping[str, Any]) -> str:
    """A component by its kind and options, such as ``dirichlet (alpha 0.3, test_images 50)``."""
    options = ", ".join(
        f"{name} {told(value) if isinstance(value, Mapping) else value}"
        for name, value in settings.items()
        if name != "kind"
    )
    return f"{settings['kind']} ({options})" if options else str(settings["kind"])
