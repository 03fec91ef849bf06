"""What a plan will cost, study by study: what is missing below the results, and everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from outagefl.estimate import sizes
from outagefl.estimate.costs import Machine
from outagefl.estimate.counting import Counter, RunCost
from outagefl.estimate.inputs import Inputs, published_images
from outagefl.runs.jobs import plan_jobs
from outagefl.runs.plan import Plan, batches

DEVICES = ("cpu", "cuda")
PER_EXPERIMENT, PER_SCALE = (
    2,
    4,
)  # other jobs: index and comparisons; configuration, index of all runs, claims, findings

Part = dict[str, Any]


def summarise(
    config: Mapping[str, Any],
    plan: Plan,
    checks: Collection[str],
    results: Path,
    scratch: Path,
    machines: Mapping[str, Machine],
) -> dict[str, Any]:
    """The cost of a resolved configuration and its plan, as JSON; ``checks``: of theory, ``<study>/<check>``.

    ``missing`` and ``everything`` hold a part for each study, for ``other jobs`` (inputs, tables, figures, checks) and
    ``in all``, see ``_part``. ``downloads``: the bytes of missing files by source, the most there can be where no size
    is published. ``scratch``: an empty folder.
    """
    scale, size = config["scale"], config["runs_per_job"]
    counter = Counter(plan, Inputs(plan, results, scratch), machines)
    costs = {path: counter.cost(run) for path, run in plan.runs.items()}
    jobs = plan_jobs(plan, results, scale, size)
    inputs = [path for path in plan.inputs if not (results / path).exists()]
    unchecked = [name for name in checks if not (results / scale / f"{'/theory/'.join(name.split('/'))}.csv").exists()]
    missing = _others(plan, inputs, jobs.stale, unchecked), list(jobs.runs.values())
    everything = _others(plan, plan.inputs, plan.experiments, checks), batches(plan, plan.runs, size)
    return {
        "scale": scale,
        "downloads": downloads(plan, results),
        "recorded": {device: f"{machine.device} ({machine.file})" for device, machine in machines.items()},
        "missing": _parts(plan, costs, machines, *missing),
        "everything": _parts(plan, costs, machines, *everything),
    }


def downloads(plan: Plan, results: Path) -> dict[str, int]:
    """Bytes to download by source, of those behind inputs that are not made yet."""
    needed = {made.source for path, made in plan.inputs.items() if made.source and not (results / path).exists()}
    sizes_of = {
        name: [
            file.get("bytes") or file["bytes_at_most"]
            for file, path in zip(plan.sources[name].downloads.values(), plan.sources[name].paths, strict=False)
            if not path.exists()
        ]
        for name in sorted(needed)
    }
    return {name: sum(found) for name, found in sizes_of.items() if found}


def _others(plan: Plan, inputs: Iterable[str], experiments: Collection[str], checks: Collection[str]) -> Part:
    """What is beside training: ``inputs``, all of these experiments and checks; each job takes a core, once started."""
    analyses = [plan.experiments[name].analysis for name in experiments]
    shown = sum(len(analysis.get(key, [])) for analysis in analyses for key in ("figures", "tables"))
    made = [plan.inputs[path] for path in inputs]
    analysed = shown + PER_EXPERIMENT * len(analyses) + PER_SCALE * bool(analyses) + len(checks)
    disk = 0
    for each in made:
        images = published_images(plan.sources[each.source]) if each.what == "dataset" and each.source else None
        disk += sizes.input_bytes(each, images)
    return {"jobs": len(made) + analysed, "disk": disk}


def _parts(
    plan: Plan,
    costs: Mapping[str, RunCost],
    machines: Mapping[str, Machine],
    others: Part,
    jobs: Iterable[list[str]],
) -> dict[str, Part]:
    by_study: dict[str, list[list[str]]] = {}
    for job in jobs:
        by_study.setdefault(plan.runs[job[0]].spec["study"], []).append(job)
    parts = {study: _part(own, costs, machines) for study, own in by_study.items()}
    starts = {device: others["jobs"] * machines[device].job if device in machines else None for device in DEVICES}
    longest = {device: machines[device].job if device in machines else None for device in DEVICES}
    rest = {"runs": 0, "jobs": others["jobs"], "seconds": starts, "longest": longest, "memory_mb": 0}
    parts["other jobs"] = {**rest, "disk_bytes": others["disk"], "at_most_runs": 0}
    parts["in all"] = _sum(list(parts.values()))
    return parts


def _part(jobs: list[list[str]], costs: Mapping[str, RunCost], machines: Mapping[str, Machine]) -> Part:
    """Jobs together.

    runs, jobs; seconds, and longest, those of the longest job, by device, None where they are not known; memory_mb of
    the largest job; disk_bytes; at_most_runs, of which only a bound is known.
    """
    own = [[costs[path] for path in job] for job in jobs]
    runs = [cost for job in own for cost in job]
    spent: dict[str, list[float] | None] = {}
    for device in DEVICES:
        known = all(device in cost.seconds for cost in runs)
        spent[device] = (
            [machines[device].job + sum(run.seconds[device] for run in job) for job in own] if known else None
        )
    return {
        "runs": len(runs),
        "jobs": len(jobs),
        "seconds": {device: None if times is None else sum(times) for device, times in spent.items()},
        "longest": {device: None if times is None else max(times, default=0.0) for device, times in spent.items()},
        "memory_mb": max((round(cost.memory) for cost in runs), default=0),
        "disk_bytes": sum(cost.disk for cost in runs),
        "at_most_runs": sum(cost.at_most for cost in runs),
    }


def _sum(parts: list[Part]) -> Part:
    def total(key: str, device: str, add: Any) -> float | None:
        times = [part[key][device] for part in parts]
        return None if None in times else float(add(times))

    return {
        **{key: sum(part[key] for part in parts) for key in ("runs", "jobs", "disk_bytes", "at_most_runs")},
        "seconds": {device: total("seconds", device, sum) for device in DEVICES},
        "longest": {device: total("longest", device, max) for device in DEVICES},
        "memory_mb": max(part["memory_mb"] for part in parts),
    }
