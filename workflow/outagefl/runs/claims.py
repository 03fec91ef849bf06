"""The claims of the configured studies, checked against what the studies declare: nothing is read or computed here.

A claim is checked against a study as it is published, not as a scale has it: what a scale leaves out is no mistake.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from outagefl import components
from outagefl.config import read_claims, read_yaml
from outagefl.errors import ConfigError, unknown

ACCURACY = {"kind": "final", "metric": "accuracy"}  # what is measured unless a claim says something else
RATIO = "×"
POINTS = ("points", "%")  # units of the studies' margin of equivalence
UNITS = {
    "loss": "nats",
    "reception_rate": "share",
    "consensus_error": "square norm",
    "consensus_distance": "square norm",
}


def declared_claims(config: Mapping[str, Any], folder: Path) -> dict[str, dict[str, Any]]:
    """Study → id → claim for the studies of a resolved configuration, in the registry's order.

    ``folder`` holds ``claims.yaml``, ``studies/`` and ``scales/``. Raises ConfigError naming claim and key for an
    unknown study, experiment, check, statistic, measure, option, method, factor, level or scale, a wrong unit, an
    effect that is not above its null, and a claim that stands twice.
    """
    path = folder / "claims.yaml"
    registry = read_claims(path)
    studies = sorted(file.stem for file in (folder / "studies").glob("*.yaml"))
    for study in registry:
        if study not in studies:
            raise ConfigError(f"{path}: {unknown('study', study, studies)}")
    _require_different(registry, path)
    chosen = {study: claims for study, claims in registry.items() if study in config["studies"]}
    scales = [file.stem for file in (folder / "scales").glob("*.yaml")]
    for study, claims in chosen.items():
        declared = read_yaml(folder / "studies" / f"{study}.yaml")
        for name, claim in claims.items():
            _check(claim, declared, scales, f"{path}: {study}.{name}")
    return chosen


def settings(config: Mapping[str, Any], name: str, analysis: Mapping[str, Any]) -> dict[str, Any]:
    """What ``analysis.measured.Experiment`` must know of an experiment, "study/experiment", beside its runs."""
    study, experiment = name.split("/")
    declared = config["study_settings"][study]
    setting = {**declared["setting"], **declared["experiments"][experiment].get("setting", {})}
    told = {"tail": analysis["tail"], "margin": analysis["equivalence_margin"]}
    return told | {"protocol": setting.get("protocol", "")}


def modules(claims: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """The modules of the statistics and measures that claims ask for."""
    tested = [claim for of_study in claims.values() for claim in of_study.values() if "statistic" in claim]
    chosen = {"statistic": [claim["statistic"] for claim in tested], "measure": map(measured, tested)}
    return sorted({components.module_name(family, each["kind"]) for family, parts in chosen.items() for each in parts})


def measured(claim: Mapping[str, Any]) -> dict[str, Any]:
    """What is measured in each run."""
    return dict(claim.get("measure", ACCURACY))


def named_methods(statistic: Mapping[str, Any]) -> list[str]:
    """The methods that a statistic compares."""
    return [method for key in ("method", "baseline", "order", "pairs") for method in _flat(statistic.get(key, []))]


def required_levels(claim: Mapping[str, Any]) -> dict[str, list[str]]:
    """Factor → the levels without which there is nothing to say: those compared, and the only one it is about."""
    statistic = claim["statistic"]
    found = {factor: [str(level)] for factor, level in claim.get("where", {}).items() if not isinstance(level, list)}
    if "factor" in statistic:
        compared = [str(level) for key in ("base", "level", "at") for level in _flat(statistic.get(key, []))]
        found[statistic["factor"]] = [*found.get(statistic["factor"], []), *compared]
    return found


def restrictions(claim: Mapping[str, Any]) -> dict[str, list[str]]:
    """Factor → the only levels that a claim is about."""
    return {factor: [str(level) for level in _flat(levels)] for factor, levels in claim.get("where", {}).items()}


def named_factors(claim: Mapping[str, Any]) -> list[str]:
    """The factors without which there is nothing to say."""
    return [*required_levels(claim), *restrictions(claim), *claim.get("each", [])]


def _flat(names: Any) -> Iterator[Any]:
    if isinstance(names, list):
        for name in names:
            yield from _flat(name)
    else:
        yield names


def _require_different(registry: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Refuse an id that two studies use, and a claim that says what another one does."""
    seen: dict[str, str] = {}
    for study, claims in registry.items():
        for name, claim in claims.items():
            if name in seen.values():
                raise ConfigError(f"{path}: {study}.{name}: the id {name!r} stands twice")
            said = {key: value for key, value in claim.items() if key not in ("text", "source", "note")}
            other = seen.setdefault(json.dumps([study, said], sort_keys=True), name)
            if other != name:
                raise ConfigError(f"{path}: {study}.{name}: says the same as {other}")


def _check(claim: Mapping[str, Any], study: Mapping[str, Any], scales: Iterable[str], where: str) -> None:
    if "finding" in claim:
        _require(claim["finding"]["check"], "check", study.get("theory", {}), f"{where}.finding.check")
        return
    _require(claim.get("scale", "paper"), "scale", scales, f"{where}.scale")
    _require(claim["experiment"], "experiment", study["experiments"], f"{where}.experiment")
    experiment = study["experiments"][claim["experiment"]]
    statistic, factors = claim["statistic"], experiment.get("factors", {})
    components.check("statistic", statistic, f"{where}.statistic")
    components.check("measure", measured(claim), f"{where}.measure")
    for method in named_methods(statistic):
        _require(method, f"method of {claim['experiment']}", experiment["methods"], f"{where}.statistic")
    _require_others(statistic, f"{where}.statistic")
    for factor in named_factors(claim):
        _require(factor, f"factor of {claim['experiment']}", factors, where)
        for level in [*required_levels(claim).get(factor, []), *restrictions(claim).get(factor, [])]:
            _require(level, f"level of {factor}", map(str, factors[factor]), where)
    if claim["unit"] != (expected := _unit(claim)):
        raise ConfigError(f"{where}.unit: {claim['unit']!r}, expected {expected!r}")
    if (
        claim.get("says", "effect") in ("at least", "at most", "about")
        and "within" not in claim
        and expected not in POINTS
    ):
        raise ConfigError(f"{where}: 'within' is missing: only for {' and '.join(POINTS)} the study has a margin")
    null = 1 if claim.get("ratio") else 0
    if claim.get("says", "effect") == "effect" and claim["published"] is not None and claim["published"] <= null:
        raise ConfigError(
            f"{where}.published: {claim['published']}, expected more than {null}: an effect is stated upwards"
        )


def _require(name: Any, what: str, valid: Iterable[Any], where: str) -> None:
    if name not in (known := list(valid)):
        raise ConfigError(f"{where}: {unknown(what, name, known)}")


def _require_others(statistic: Mapping[str, Any], where: str) -> None:
    """Refuse a method or level that is compared with itself."""
    for keys in (("method", "baseline", "order"), ("base", "level")):
        compared = [str(name) for key in keys for name in _flat(statistic.get(key, []))]
        for name in compared:
            if compared.count(name) > 1:
                raise ConfigError(f"{where}: {name!r} is compared with itself; expected another one")


def _unit(claim: Mapping[str, Any]) -> str:
    """The unit of what is published and of ours."""
    measure, says = measured(claim), claim.get("says", "effect")
    if says in ("wins", "unresolved"):
        return "%" if says == "wins" else "pairs"
    if claim.get("ratio") or measure["kind"] == "growth":
        return RATIO
    metric = measure.get("metric", "")
    if not metric.endswith("accuracy"):
        return "rounds" if measure["kind"] == "first_round" else UNITS.get(metric, metric)
    if measure["kind"] == "area":
        return "% · s"
    return "%" if claim["statistic"]["kind"] == "value" and measure["kind"] != "spread" else "points"
