"""Checks of option values; each error names the option by its configuration key, the value and what was expected."""

from __future__ import annotations

from collections.abc import Collection
from math import inf
from typing import TypeGuard

from outagefl.errors import InputError, unknown


def number(key: str, value: object, low: float, high: float = inf) -> None:
    """Raise InputError unless ``value`` is a finite number from ``low`` to ``high``, both included."""
    if not _is_number(value) or not low <= value <= high or value == inf:
        raise InputError(f"{key}: {value!r} is not a number {_range(low, high)}")


def positive(key: str, value: object, high: float = inf) -> None:
    """Raise InputError unless ``value`` is a finite number above 0 and at most ``high``."""
    if not _is_number(value) or not 0 < value <= high or value == inf:
        raise InputError(f"{key}: {value!r} is not a finite number above 0{'' if high == inf else f' up to {high}'}")


def whole(key: str, value: object, low: int, high: float = inf) -> None:
    """Raise InputError unless ``value`` is a whole number from ``low`` to ``high``, both included."""
    if not _is_number(value) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{key}: {value!r} is not a whole number {_range(low, high)}")


def choice(key: str, value: object, valid: Collection[str]) -> None:
    """Raise InputError unless ``value`` is one of the names ``valid``."""
    if value not in list(valid):  # not by hash, which a list or mapping has not
        raise InputError(f"{key}: {unknown('value', value, valid)}")


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _range(low: float, high: float) -> str:
    return f"of at least {low}" if high == inf else f"from {low} to {high}"
