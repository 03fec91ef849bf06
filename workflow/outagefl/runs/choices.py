"""An option of a rule that is chosen on validation seeds, not given as a number.

``margin: {kind: best_mean, candidates: [1, 3], seeds: [1000, 1001], tail: 0.1}`` is such a choice. Every candidate is
run with each of these seeds in the very setting of the run that has the choice, and ``outagefl.analysis.choice`` picks
one from these validation runs alone. No experiment of the study may have their seeds, and partition, graph, outages,
initial model and batches all follow from the seed, so nothing that is compared has a part in the choice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from outagefl.errors import DataError


def chosen_option(spec: Any) -> str | None:
    """The option of the spec's rule that is a choice; None where there is none."""
    match spec:
        case {"rule": {**options}}:
            return next((str(option) for option, value in options.items() if isinstance(value, Mapping)), None)
    return None


def with_value(spec: Mapping[str, Any], value: float) -> dict[str, Any]:
    """The spec of a rule with a choice, with a number in the choice's place."""
    return {**spec, "rule": {**spec["rule"], str(chosen_option(spec)): value}}


def candidate_specs(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The spec with each candidate in the place of its choice; the spec itself where it has none."""
    option = chosen_option(spec)
    return [with_value(spec, value) for value in spec["rule"][option]["candidates"]] if option else [spec]


def validation_specs(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The specs of the runs that a choice is made from: candidates slowest, seeds fastest."""
    seeds = spec["rule"][chosen_option(spec)]["seeds"]
    return [{**candidate, "seed": seed} for candidate in candidate_specs(spec) for seed in seeds]


def read_choice(path: Path, spec: Mapping[str, Any]) -> dict[str, Any]:
    """What was chosen for a spec, as ``outagefl.analysis.choices.create`` wrote it; DataError for anything else."""
    settings, again = spec["rule"][chosen_option(spec)], "delete it and run again"
    candidates = settings["candidates"]
    try:
        choice: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found = [each["value"] for each in choice["candidates"]]
        fits = (found, choice["seeds"]) == (candidates, settings["seeds"])
        known = choice["value"] in candidates
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not the record of a choice ({type(error).__name__}: {error}); {again}") from None
    if not known:
        told = ", ".join(map(str, candidates))
        raise DataError(f"{path}: {choice['value']!r} was chosen; expected one of {told}; {again}")
    if not fits:
        raise DataError(
            f"{path}: made from other candidates or seeds than {candidates} and {settings['seeds']}; {again}"
        )
    return choice
