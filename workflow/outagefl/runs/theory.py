"""The theory checks that studies declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outagefl import components


def declared_checks(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """``<study>/<check>`` → kind and options, of a resolved configuration (``outagefl.config.load``).

    Raises ConfigError for an unknown kind or option, or a missing option.
    """
    found = {}
    for study, settings in config["study_settings"].items():
        for name, check in settings.get("theory", {}).items():
            components.check("theory check", check, f"studies.{study}.theory.{name}")
            found[f"{study}/{name}"] = check
    return found
