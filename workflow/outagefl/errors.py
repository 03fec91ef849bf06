"""The errors a user can cause and mend; each message names the file or key, the value and what was expected."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class OutageflError(Exception):
    """Base of all errors that are shown to the user as one line, without a traceback; ``status``: of the process."""

    status = 1


class ConfigError(OutageflError):
    """A configuration key or value that cannot be used."""


class DataError(OutageflError):
    """A download, archive, data set or result file that is missing, damaged or unfit."""


class InputError(OutageflError):
    """A partition, graph or availability matrix that cannot be made as asked."""


class TrainingError(OutageflError):
    """Training that cannot go on, such as a loss that is no longer a finite number."""


def unknown(what: str, name: object, valid: Iterable[object]) -> str:
    """Say that ``name`` is not a known ``what``, with the nearest valid spelling and all valid ones."""
    names = sorted({str(v) for v in valid})
    lower = {known.lower(): known for known in names}
    near = get_close_matches(str(name).lower(), lower, n=1, cutoff=0.5)
    hint = f"; did you mean {lower[near[0]]!r}?" if near else ""
    return f"unknown {what} {name!r}{hint} (valid: {', '.join(names) or 'none'})"
