"""What is written down beside a run's metrics: its spec, where it comes from, and notes on its data."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

from outagefl.errors import DataError


def read_record(folder: Path, key: str) -> Any:
    """One entry of a run's ``run.json``; DataError where there is none."""
    path = Path(folder) / "run.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path}: not the record of a run ({type(error).__name__}: {error})") from None


def dotted(spec: Any, key: str) -> Any:
    """The value of a dotted key such as ``partition.alpha``; None where the spec has no such key."""
    return reduce(lambda part, name: part.get(name) if isinstance(part, dict) else None, key.split("."), spec)
