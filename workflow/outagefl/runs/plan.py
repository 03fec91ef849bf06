"""The plan: which runs and inputs a configuration asks for, each under an address made from all that can change it.

A run's address is a hash of its spec, the code it uses and the addresses of its inputs; an input's address likewise,
down to the checksum of the source its data come from. What exists under its address is therefore never out of date.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from outagefl import components
from outagefl.errors import ConfigError, unknown
from outagefl.fingerprint import closure
from outagefl.runs.analyses import analysis_of
from outagefl.runs.choices import chosen_option, validation_specs
from outagefl.runs.expand import Member, canonical, check_declarations, described, members
from outagefl.sources.catalog import Source


@dataclass(frozen=True)
class InputKind:
    """How one kind of input is made: by ``create`` of a module, from these fields of the spec; suffix of its file."""

    module: str
    fields: tuple[str, ...]
    suffix: str


INPUTS = {
    "dataset": InputKind("outagefl.datasets.arrays", (), ""),
    "partition": InputKind("outagefl.inputs.partitions", ("clients", "seed"), ".npz"),
    "topology": InputKind("outagefl.inputs.graphs", ("clients", "seed"), ".npz"),
    "links": InputKind("outagefl.inputs.link_losses", ("seed",), ".npz"),
    "speeds": InputKind("outagefl.inputs.activation_intervals", ("clients", "seed"), ".npz"),
    "trace": InputKind("outagefl.inputs.traces", (), ".npz"),
    "probability": InputKind("outagefl.inputs.probabilities", ("clients", "rounds", "seed"), ".npy"),
    "availability": InputKind("outagefl.inputs.availabilities", ("clients", "rounds", "seed"), ".npy"),
}
FORMAT = 1  # raise it when the layout of result files changes


@dataclass(frozen=True)
class Input:
    """Something that runs share: a prepared data set, a partition, a graph, its links, availability or the like."""

    what: str
    spec: dict[str, Any]
    needs: tuple[str, ...]  # other inputs
    source: str | None  # of a data set or trace: the source of the same name as its kind


@dataclass(frozen=True)
class Run:
    """One training run; ``inputs`` maps what it needs to paths below the results folder."""

    spec: dict[str, Any]
    inputs: dict[str, str]


@dataclass(frozen=True)
class Choice:
    """A value to be chosen: how, and from which runs (paths; candidates slowest, validation seeds fastest)."""

    settings: dict[str, Any]
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    """A set of runs, how they are compared and what shows them."""

    study: str
    name: str
    title: str
    analysis: dict[str, Any]
    members: list[tuple[str, Member]]  # path of a run, what it stands for here


@dataclass
class Plan:
    """Runs, inputs and choices by path below the results folder, experiments by ``<study>/<experiment>``."""

    runs: dict[str, Run] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)


def short_hash(content: Any) -> str:
    """Eight hex digits that stand for any JSON content."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()[:8]


@cache
def _code(*modules: str) -> dict[str, str]:
    return closure(modules)


def _slug(*parts: Any) -> str:
    """A readable part of a path, components by their kinds; the hash beside it tells apart what the slug does not."""
    names = (part["kind"] if isinstance(part, Mapping) else str(part) for part in parts)
    return "-".join(re.sub(r"[^\w.-]+", "_", name).strip("_") for name in names)


def run_code(spec: Mapping[str, Any]) -> dict[str, str]:
    """Digests of the modules a run uses: its engine, model, rule and channel, and what they and the runner import."""
    channel = [components.module_name("channel", spec["channel"]["kind"])] if "channel" in spec else []
    choice = ["outagefl.runs.choices"] if chosen_option(spec) else []
    return _code(
        "outagefl.runs.execute",
        components.module_name("engine", spec["engine"]),
        components.module_name("model", spec["model"]["kind"]),
        components.module_name(f"{spec['engine']} rule", spec["rule"]["kind"]),
        *channel,
        *choice,
    )


def run_path(run: Run) -> str:
    """Where a run lives below the results folder, e.g. ``runs/sfg/sfg_cut-digits-markov-s3-1a2b3c4d``."""
    spec = run.spec
    failing = spec.get("availability") or spec["links"]
    [outages] = behind(failing).values() or [failing]
    slug = _slug(spec["rule"], spec["dataset"], outages, f"s{spec['seed']}")
    address = short_hash({"format": FORMAT, "spec": spec, "code": run_code(spec), "inputs": run.inputs})
    return f"runs/{spec['study']}/{slug}-{address}"


def behind(availability: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What an availability is made from, a trace or probabilities, as {kind of input: its settings}; else nothing."""
    return {
        what: availability[what] for what in ("trace", "probability") if isinstance(availability.get(what), Mapping)
    }


def depends_on_labels(settings: Mapping[str, Any]) -> bool:
    """Whether probabilities are made from the clients' label mixes, and so from the partition."""
    return "labels" in settings.get("base", {})


def _input_path(made: Input, identity: str) -> str:
    kind = INPUTS[made.what]
    settings = made.spec[made.what]
    base = [components.module_name("base probability", settings["base"]["kind"])] if "base" in settings else []
    code = _code(kind.module, components.module_name(made.what, settings["kind"]), *base)
    address = short_hash({"format": FORMAT, "spec": made.spec, "needs": made.needs, "code": code, "source": identity})
    options = [value for key, value in settings.items() if key != "kind"]
    slug = _slug(settings, *options, *([f"s{made.spec['seed']}"] if "seed" in made.spec else []))
    return f"inputs/{made.what}/{slug}-{address}{kind.suffix}"


def _add_input(plan: Plan, catalog: Mapping[str, Source], what: str, spec: Mapping[str, Any], *needs: str) -> str:
    source = spec[what]["kind"] if what in ("dataset", "trace") else None
    made = Input(what, {what: spec[what], **{key: spec[key] for key in INPUTS[what].fields}}, needs, source)
    identity = ""
    if source is not None:
        if source not in catalog:
            raise ConfigError(f"config/sources.yaml: {unknown('source', source, catalog)}")
        plan.sources[source] = catalog[source]
        identity = catalog[source].identity
    path = _input_path(made, identity)
    plan.inputs[path] = made
    return path


def _add_choice(plan: Plan, catalog: Mapping[str, Source], spec: dict[str, Any], option: str) -> str:
    settings = spec["rule"][option]
    choice = Choice(settings, tuple(add_run(plan, catalog, each) for each in validation_specs(spec)))
    code = _code("outagefl.analysis.choices", components.module_name("choice", settings["kind"]))
    address = short_hash({"format": FORMAT, "choice": settings, "runs": choice.runs, "code": code})
    path = f"choices/{spec['study']}/{_slug(spec['rule'], option, settings, spec['dataset'])}-{address}.json"
    plan.choices[path] = choice
    return path


def add_run(plan: Plan, catalog: Mapping[str, Source], spec: dict[str, Any]) -> str:
    """Plan a run and what it needs; returns the run's path."""
    dataset = _add_input(plan, catalog, "dataset", spec)
    inputs = {"dataset": dataset, "partition": _add_input(plan, catalog, "partition", spec, dataset)}
    if "topology" in spec:
        inputs["topology"] = _add_input(plan, catalog, "topology", spec)
    if "links" in spec:
        inputs["links"] = _add_input(plan, catalog, "links", spec, inputs["topology"])
    if "speeds" in spec:
        inputs["speeds"] = _add_input(plan, catalog, "speeds", spec)
    needs = []
    for what, settings in behind(spec.get("availability", {})).items():
        partition = [inputs["partition"]] if depends_on_labels(settings) else []
        needs = [_add_input(plan, catalog, what, {**spec, what: settings}, *partition)]
        if what == "probability":
            inputs[what] = needs[0]
    if "availability" in spec:
        inputs["availability"] = _add_input(plan, catalog, "availability", spec, *needs)
    if option := chosen_option(spec):
        inputs["choice"] = _add_choice(plan, catalog, spec, option)
    run = Run(spec, inputs)
    path = run_path(run)
    plan.runs.setdefault(path, run)
    return path


def make_plan(config: Mapping[str, Any], catalog: Mapping[str, Source]) -> Plan:
    """Plan all experiments of a resolved configuration (``outagefl.config.load``)."""
    plan = Plan()
    for study, settings in config["study_settings"].items():
        check_declarations(study, settings)
        for name, declared in settings["experiments"].items():
            checked = list(members(study, settings, name))
            analysis = analysis_of(study, settings, name)
            if declared.get("skip", False):
                continue
            placed = [(add_run(plan, catalog, member.spec), member) for member in checked]
            plan.experiments[f"{study}/{name}"] = Experiment(study, name, declared["title"], analysis, placed)
    for what, settings in described(config):
        _add_input(plan, catalog, what, {what: settings})
    return plan


def is_finished(folder: Path) -> bool:
    """Whether a run's folder holds all its files; they appear together, but a user may have removed some."""
    return (folder / "metrics.parquet").is_file() and (folder / "run.json").is_file()


def to_describe(plan: Plan) -> dict[str, dict[str, str]]:
    """What is described: what → name → path below the results; where there are seeds, the lowest of each setting."""

    def setting(made: Input) -> list[Any]:
        own = {key: value for key, value in made.spec.items() if key != "seed"}
        return [own, made.source, *(setting(plan.inputs[need]) for need in made.needs)]

    chosen: dict[tuple[str, str], str] = {}
    for path, made in sorted(plan.inputs.items(), key=lambda item: item[1].spec.get("seed", 0)):
        chosen.setdefault((made.what, canonical(setting(made))), path)
    return {
        what: {Path(path).name.removesuffix(kind.suffix): path for (of, _), path in chosen.items() if of == what}
        for what, kind in INPUTS.items()
        if what in ("dataset", "partition", "trace", "probability")
    }


def make_input(what: str, spec: Mapping[str, Any], needs: Path | None, target: Path) -> None:
    """Make one input; ``needs``: what it is made from, a source or another input, or None for what needs nothing."""
    import_module(INPUTS[what].module).create(spec, needs, target)


def batches(plan: Plan, missing: Iterable[str], size: int) -> list[list[str]]:
    """Missing runs grouped into jobs of at most ``size`` runs of one study on one data set.

    Validation runs are among themselves, so that no other run is trained before a choice; runs that need a choice
    likewise, so that no other run waits with them.
    """
    validation = {path for choice in plan.choices.values() for path in choice.runs}
    groups: dict[tuple[str, str, bool, bool], list[str]] = {}
    for path in missing:
        run = plan.runs[path]
        key = (run.spec["study"], run.inputs["dataset"], path in validation, "choice" in run.inputs)
        groups.setdefault(key, []).append(path)
    return [group[start : start + size] for group in groups.values() for start in range(0, len(group), size)]
