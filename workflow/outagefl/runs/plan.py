"""The plan: which runs and inputs a configuration asks for, each under an address made from all that can change it.

A run's address is a hash of its spec, the code it uses and the addresses of its inputs; an input's address likewise,
down to the checksum of the source its data come from. What exists under its address is therefore never out of date.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
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
from outagefl.runs.packs import setting
from outagefl.runs.resolve import parts, with_parts
from outagefl.runs.words import counted, in_words
from outagefl.sources.catalog import Source


@dataclass(frozen=True)
class InputKind:
    """How one kind of input is made: by ``create`` of a module, from these fields of the spec; suffix of its file.

    ``beside``: the run's inputs it is made from, beside those that its own settings hold.
    """

    module: str
    fields: tuple[str, ...]
    suffix: str
    beside: tuple[str, ...] = ()


INPUTS = {
    "dataset": InputKind("outagefl.datasets.arrays", (), ""),
    "partition": InputKind("outagefl.inputs.partitions", ("clients", "seed"), ".npz", ("dataset",)),
    "topology": InputKind("outagefl.inputs.graphs", ("clients", "seed"), ".npz"),
    "links": InputKind("outagefl.inputs.link_losses", ("seed",), ".npz", ("topology",)),
    "speeds": InputKind("outagefl.inputs.activation_intervals", ("clients", "seed"), ".npz"),
    "trace": InputKind("outagefl.inputs.traces", (), ".npz"),
    "probability": InputKind("outagefl.inputs.probabilities", ("clients", "rounds", "seed"), ".npy", ("partition",)),
    "communities": InputKind("outagefl.inputs.memberships", ("seed",), ".npz", ("topology",)),
    "availability": InputKind("outagefl.inputs.availabilities", ("clients", "rounds", "seed"), ".npy"),
}
MADE_FROM = dict.fromkeys([*INPUTS, *(name for kind in INPUTS.values() for name in kind.fields)])  # fields of a spec
FORMAT = 1  # raise it when the layout of result files changes
CHECKPOINTS = ".checkpoints"  # below the results folder; no output of any job


@dataclass(frozen=True)
class Input:
    """Something that runs share: a prepared data set, a partition, a graph, its links, availability or the like."""

    what: str
    spec: dict[str, Any]
    needs: dict[str, str]  # other inputs: what each is called by what makes this one → its path
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

    def in_words(self) -> str:
        """What is run, for captions: ``digits; 20 clients; 40 rounds; 5 seeds; 60 runs``."""
        seeds, runs = {member.seed for _, member in self.members}, {run for run, _ in self.members}
        told = in_words(member.spec for _, member in self.members)
        return "; ".join([told, counted(str(len(seeds)), "seeds"), counted(f"{len(runs):,}", "runs")])

    def files(self) -> list[str]:
        """All that shows the experiment, by path below its folder."""
        names = ["runs.csv", "comparisons.csv", "comparison.tex", "comparison.html"]
        for key, suffixes in {"tables": ("csv", "tex", "html"), "figures": ("pdf", "png")}.items():
            names += [f"{key}/{kind}.{suffix}" for kind in self.analysis.get(key, []) for suffix in suffixes]
        return names


@dataclass
class Plan:
    """Runs, inputs and choices by path below the results folder, experiments by ``<study>/<experiment>``."""

    runs: dict[str, Run] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    shared: dict[str, dict[str, str]] = field(default_factory=dict)  # see ``_inputs``


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
    failing = "availability" if "availability" in spec else "links"
    outages = [settings for family, settings in with_parts(failing, spec[failing]) if family in INPUTS]
    slug = _slug(spec["rule"], spec["dataset"], *outages, f"s{spec['seed']}")
    address = short_hash({"format": FORMAT, "spec": spec, "code": run_code(spec), "inputs": run.inputs})
    return f"runs/{spec['study']}/{slug}-{address}"


def input_modules(made: Input) -> list[str]:
    """The modules that make an input: that of its kind and those of its components that are no inputs themselves."""
    settings = made.spec[made.what]
    loaded = [
        (made.what, settings),
        *((family, part) for family, part in parts(settings).values() if family not in INPUTS),
    ]
    return [INPUTS[made.what].module, *(components.module_name(family, each["kind"]) for family, each in loaded)]


def choice_modules(settings: Mapping[str, Any]) -> list[str]:
    """The modules that make a choice."""
    return ["outagefl.analysis.choices", components.module_name("choice", settings["kind"])]


def _input_path(made: Input, identity: str) -> str:
    kind = INPUTS[made.what]
    settings = made.spec[made.what]
    code = _code(*input_modules(made))
    address = short_hash({"format": FORMAT, "spec": made.spec, "needs": made.needs, "code": code, "source": identity})
    options = [value for key, value in settings.items() if key != "kind"]
    slug = _slug(settings, *options, *([f"s{made.spec['seed']}"] if "seed" in made.spec else []))
    return f"inputs/{made.what}/{slug}-{address}{kind.suffix}"


def _needs(what: str, spec: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """What an input of a spec is made from: what it is called there, the kind of input it is, and the spec of it."""
    for family in INPUTS[what].beside:
        # probabilities depend on the clients' label mixes, and so on the partition, if their base does
        if what != "probability" or "labels" in spec[what]["base"]:
            yield family, family, spec
    for option, (family, part) in parts(spec[what]).items():
        if family in INPUTS:
            yield option, family, {**spec, family: part}


def _add_input(plan: Plan, catalog: Mapping[str, Source], what: str, spec: Mapping[str, Any]) -> str:
    """Plan an input and all that it is made from; returns the input's path."""
    needs = {name: _add_input(plan, catalog, family, need) for name, family, need in _needs(what, spec)}
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
    code = _code(*choice_modules(settings))
    address = short_hash({"format": FORMAT, "choice": settings, "runs": choice.runs, "code": code})
    path = f"choices/{spec['study']}/{_slug(spec['rule'], option, settings, spec['dataset'])}-{address}.json"
    plan.choices[path] = choice
    return path


def _inputs(plan: Plan, catalog: Mapping[str, Source], spec: Mapping[str, Any]) -> dict[str, str]:
    """Plan the inputs of a run; once for all runs that are the same in what inputs are made from."""
    seen = repr([spec.get(name) for name in MADE_FROM])
    if seen not in plan.shared:
        inputs = {what: _add_input(plan, catalog, what, spec) for what in INPUTS if what in spec}
        if "availability" in spec:  # some rules know the probabilities that it is drawn from
            needs = plan.inputs[inputs["availability"]].needs
            inputs |= {what: path for what, path in needs.items() if what == "probability"}
        plan.shared[seen] = inputs
    return plan.shared[seen]


def add_run(plan: Plan, catalog: Mapping[str, Source], spec: dict[str, Any]) -> str:
    """Plan a run and what it needs; returns the run's path."""
    inputs = dict(_inputs(plan, catalog, spec))
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


def checkpoint_file(root: Path, path: str) -> Path:
    """Where a run that is not finished keeps what it can go on from."""
    return root / CHECKPOINTS / f"{path.removeprefix('runs/')}.pt"


def to_describe(plan: Plan) -> dict[str, dict[str, str]]:
    """What is described: what → name → path below the results; where there are seeds, the lowest of each setting."""

    def setting(made: Input) -> list[Any]:
        own = {key: value for key, value in made.spec.items() if key != "seed"}
        return [own, made.source, *(setting(plan.inputs[need]) for need in made.needs.values())]

    chosen: dict[tuple[str, str], str] = {}
    for path, made in sorted(plan.inputs.items(), key=lambda item: item[1].spec.get("seed", 0)):
        chosen.setdefault((made.what, canonical(setting(made))), path)
    return {
        what: {Path(path).name.removesuffix(kind.suffix): path for (of, _), path in chosen.items() if of == what}
        for what, kind in INPUTS.items()
        if what in ("dataset", "partition", "trace", "probability")
    }


def drawn_from(plan: Plan, path: str) -> str:
    """The availability that was drawn from a matrix of probabilities."""
    return next(drawn for drawn, made in plan.inputs.items() if path in made.needs.values())


def everything_behind(plan: Plan, path: str) -> dict[str, Any]:
    """The settings of an input together with those of all that it is made from."""
    made = plan.inputs[path]
    behind = [everything_behind(plan, need) for need in made.needs.values()]
    return {key: value for settings in behind for key, value in settings.items()} | made.spec


def make_input(what: str, spec: Mapping[str, Any], needs: Mapping[str, Path], target: Path) -> None:
    """Make one input; ``needs``: what it is made from, other inputs by name or the files of a ``source``."""
    import_module(INPUTS[what].module).create(spec, needs, target)


def batches(plan: Plan, missing: Iterable[str], size: int) -> list[list[str]]:
    """Missing runs grouped into jobs of at most ``size`` runs of one study on one data set, a setting after the other.

    Validation runs are among themselves, so that a choice waits for no other run; runs that need a choice likewise, so
    that no other run waits with them.
    """
    validation = {path for choice in plan.choices.values() for path in choice.runs}
    groups: dict[tuple[str, str, bool, bool], list[str]] = {}
    for path in missing:
        run = plan.runs[path]
        key = (run.spec["study"], run.inputs["dataset"], path in validation, "choice" in run.inputs)
        groups.setdefault(key, []).append(path)
    places: dict[str, int] = {}  # of settings, in the order of the plan
    for group in groups.values():
        group.sort(key=lambda path: places.setdefault(setting(plan.runs[path].spec), len(places)))
    return [group[start : start + size] for group in groups.values() for start in range(0, len(group), size)]
