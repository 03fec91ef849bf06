"""Checks of options that are lists, as for single ones in ``outagefl.inputs.checks``."""

from __future__ import annotations

from collections.abc import Callable

from outagefl.errors import InputError
from outagefl.inputs import checks


def numbers(key: str, values: object, check: Callable[[str, object], None], least: int = 1) -> list[float]:
    """The values in rising order; InputError unless they are ``least`` or more different ones that pass ``check``."""
    if not isinstance(values, list | tuple) or len(set(values)) != len(values) or len(values) < least:
        raise InputError(f"{key}: {values!r} is not a list of {least} or more different numbers")
    for value in values:
        check(key, value)
    return sorted(values)


def probability(key: str, value: object) -> None:
    """Raise InputError unless ``value`` is a number above 0 and up to 1."""
    checks.positive(key, value)
    checks.number(key, value, 0, 1)


def not_negative(key: str, value: object) -> None:
    """Raise InputError unless ``value`` is a finite number of at least 0."""
    checks.number(key, value, 0)
