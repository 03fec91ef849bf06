"""The published claims beside our results, with a verdict for each (``verdicts`` has the rules).

What a claim of the registry ``config/claims.yaml`` may hold is said there; ``outagefl.runs.claims`` has checked it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from outagefl import components
from outagefl.analysis import estimates, verdicts
from outagefl.analysis.claim_runs import by_protocol, meant
from outagefl.analysis.contrast import Contrast
from outagefl.analysis.estimates import Estimate
from outagefl.analysis.indexes import SEPARATOR
from outagefl.analysis.measured import Experiment
from outagefl.analysis.statistics import holm
from outagefl.errors import ConfigError
from outagefl.runs.claims import POINTS, measured

COLUMNS = ["id", "study", "protocol", "verdict", "text", "source", "says", "published", "unit", "within", "ours", "low"]
COLUMNS += ["high", "p", "p_against", "n", "scale", "experiment", "ran", "data", "note"]
NUMBERS = ["published", "within", "ours", "low", "high", "p", "p_against", "n"]


def evaluate(
    claims: Mapping[str, Mapping[str, Mapping[str, Any]]],
    experiments: Mapping[str, Experiment],
    findings: pd.DataFrame | None,
    scale: str,
) -> pd.DataFrame:
    """One row per claim and protocol, in the registry's order.

    ``claims``: study → id → claim; ``experiments``: "study/experiment" → its runs at this scale; ``findings``:
    ``findings.tabulate`` of all theory checks, None for none.

    Columns: id, study, protocol, verdict, text, source, says, published, unit, within (how far off counts as none),
    ours, low, high (95 % interval), p and p_against (Holm-corrected over the study's claims), n (seeds), scale,
    experiment, ran (data set, clients, rounds), data (what must be known of them), note. What there is not is missing.
    Raises ConfigError for a finding that there is not.
    """
    rows = []
    for study, of_study in claims.items():
        for name, claim in of_study.items():
            told = {key: claim.get(key) for key in ("text", "source", "published", "unit", "experiment", "within")}
            told |= {"id": name, "study": study, "says": claim.get("says", verdicts.EFFECT), "scale": scale}
            if "finding" in claim:
                rows.append(told | _finding(claim, findings, f"claims: {study}.{name}", study))
                continue
            experiment = experiments.get(f"{study}/{claim['experiment']}")
            rows += [told | row for row in _tested(claim, experiment, scale)]
    table = pd.DataFrame(rows).reindex(columns=[*COLUMNS, "holds"])
    table[NUMBERS] = table[NUMBERS].astype(float)
    for column in ("p", "p_against"):
        table[column] = table.groupby("study")[column].transform(holm)
    table["verdict"] = [_verdict(row) for row in table.to_dict("records")]
    return table[COLUMNS]


def _finding(claim: Mapping[str, Any], findings: pd.DataFrame | None, where: str, study: str) -> dict[str, Any]:
    """What a theory check found: all statements that begin alike must hold.

    Shown is the first that does not, or the first of all.
    """
    check, start = claim["finding"]["check"], claim["finding"]["statement"]
    told = {"says": verdicts.FINDING, "n": 0, "experiment": f"theory: {check}"}
    own = None if findings is None else findings[(findings["study"] == study) & (findings["check"] == check)]
    if own is None or own.empty:
        return told
    meant = own[own["statement"].str.startswith(start)]
    if meant.empty:
        valid = f"expected the beginning of {', '.join(map(repr, own['statement']))}"
        raise ConfigError(f"{where}.finding.statement: no statement of {check} begins with {start!r}; {valid}")
    first = meant.sort_values("holds", kind="stable").iloc[0]  # "no" before "yes"
    expected = first["expected"] if claim["published"] is None else claim["published"]
    near = "within" not in claim or abs(first["computed"] - expected) <= claim["within"]
    found = {"ours": first["computed"], "low": first["low"], "high": first["high"]}
    holds = bool((meant["holds"] == "yes").all() and near)
    return told | found | {"holds": holds, "note": _joined(str(first["note"]), claim.get("note"))}


def _tested(claim: Mapping[str, Any], experiment: Experiment | None, scale: str) -> Iterator[dict[str, Any]]:
    """What the experiment's runs say: a row for each protocol under which it was run."""
    if claim.get("scale", scale) != scale:
        yield {"n": 0, "note": _joined(f"needs the full setting, scale {claim['scale']}", claim.get("note"))}
        return
    if experiment is None:
        yield {"n": 0, "note": claim.get("note")}
        return
    index, margin = experiment.index, experiment.margin
    for protocol, runs in by_protocol(index, experiment.protocol):
        told: dict[str, Any] = {"protocol": protocol}
        rows, gap = meant(claim, runs)
        if gap:
            yield told | {"n": 0, "note": _joined(f"{gap} of {claim['experiment']} here", claim.get("note"))}
            continue
        found = asdict(estimate(claim, contrasts(claim, experiment.values(rows, measured(claim))), margin))
        told |= {"ran": experiment.ran(rows), "data": experiment.data(rows)}
        told |= {} if claim.get("says") in (verdicts.WINS, verdicts.COUNT) else {"within": _within(claim, margin)}
        yield told | found | {"note": _joined(found["note"], claim.get("note"))}


def contrasts(claim: Mapping[str, Any], values: pd.DataFrame) -> dict[str, Contrast]:
    """What a claim compares, by name, those of ``each`` level by themselves; ``values``: as ``contrast`` has them.

    Ratios are compared as differences of logarithms.
    """
    of_kind, options = components.load("statistic", claim["statistic"])
    if claim.get("ratio"):
        values = values.assign(value=np.log(values["value"]))
    each = claim.get("each")
    if not each:
        found: dict[str, Contrast] = of_kind(values, **options)
        return found
    return {
        SEPARATOR.join([name, *map(str, levels)]): contrast
        for levels, own in values.groupby(each, sort=False)
        for name, contrast in of_kind(own.drop(columns=each), **options).items()
    }


def estimate(claim: Mapping[str, Any], compared: Mapping[str, Contrast], margin: float) -> Estimate:
    """What ``contrasts`` say of a claim, in its unit; ``margin``: of equivalence, in points."""
    says, ratio = claim.get("says", verdicts.EFFECT), claim.get("ratio", False)
    if says == verdicts.WINS:
        return estimates.wins(next(iter(compared.values())))
    if says == verdicts.COUNT:
        return estimates.unresolved(compared, margin, claim["seeds"])
    into, back = (np.log, np.exp) if ratio else (float, float)
    published = np.nan if claim["published"] is None else float(into(claim["published"]))
    within = float(into(_within(claim, margin)))
    assertions: dict[str, tuple[estimates.Evidence, Callable[[float], float]]] = {
        verdicts.EFFECT: (estimates.effect(within), lambda mean: -mean),
        verdicts.AT_LEAST: (estimates.at_least(published, within), lambda mean: -mean),
        verdicts.AT_MOST: (estimates.at_most(published, within), lambda mean: mean),
        verdicts.ABOUT: (estimates.about(published, within), lambda mean: abs(mean - published)),
    }
    found = estimates.estimate(compared, *assertions[says], any_of=claim.get("any", False))
    return replace(found, ours=float(back(found.ours)), low=float(back(found.low)), high=float(back(found.high)))


def _within(claim: Mapping[str, Any], margin: float) -> float:
    """How far off counts as none: as the claim says, else the study's margin, but no more than a published effect."""
    default = 1.0 if claim.get("ratio") else margin if claim["unit"] in POINTS else 0.0
    within = float(claim.get("within", default))
    is_sized = claim.get("says", verdicts.EFFECT) == verdicts.EFFECT and claim["published"] is not None
    return min(within, claim["published"]) if is_sized else within


def _verdict(row: Mapping[Any, Any]) -> str:
    if pd.notna(row["holds"]):
        return verdicts.held(row["holds"])
    if row["says"] == verdicts.COUNT and pd.notna(row["ours"]):
        return verdicts.held(row["ours"] >= row["published"])
    if not row["n"]:
        return verdicts.NOT_RUN
    return verdicts.judge(row["says"], row["published"], row["high"], row["p"], row["p_against"])


def _joined(*notes: str | None) -> str:
    return "; ".join(filter(None, notes))
