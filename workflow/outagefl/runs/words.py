"""What runs are, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

UNITS = {"clients": "clients", "rounds": "rounds", "horizon": "virtual seconds"}


def in_words(specs: Iterable[Mapping[str, Any]]) -> str:
    """Data sets and sizes of runs, each value once: ``digits; 20 clients; 40 rounds``."""
    specs = list(specs)

    def values(key: str) -> str:
        found = [spec[key] for spec in specs if key in spec]
        return ", ".join(dict.fromkeys(value["kind"] if isinstance(value, Mapping) else str(value) for value in found))

    return "; ".join([values("dataset"), *(counted(values(key), unit) for key, unit in UNITS.items() if values(key))])


def counted(number: str, units: str) -> str:
    """A number with its unit, which is singular for one."""
    return f"{number} {units.removesuffix('s') if number == '1' else units}"
