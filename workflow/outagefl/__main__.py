"""``python -m outagefl run SPEC``: a training run from its spec; ``why TARGET``: what would be run for it, and why."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import Any

from outagefl.analysis.choices import create
from outagefl.errors import ConfigError, OutageflError
from outagefl.runs.batch import train
from outagefl.runs.choices import chosen_option
from outagefl.runs.plan import Plan, add_run, make_input
from outagefl.runs.resolve import check_spec, in_full, with_parts
from outagefl.runs.why import explain
from outagefl.sources.catalog import Source, sources

CATALOG = Path(__file__).parents[2] / "config" / "sources.yaml"


def read_spec(path: Path) -> dict[str, Any]:
    """A resolved run spec from a JSON file that holds one, such as a ``run.json``; ConfigError if it cannot run."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not readable as JSON ({error})") from None
    spec: dict[str, Any] = content.get("spec", content) if isinstance(content, dict) else content
    check_spec(spec, str(path))
    if (option := chosen_option(spec)) and spec["seed"] in (seeds := spec["rule"][option]["seeds"]):
        raise ConfigError(f"{path}: rule.{option}.seeds: {seeds} hold the seed of the run itself; expected others")
    return in_full(spec, spec["engine"], {}, str(path))


def run_spec(spec: dict[str, Any], source: Path | None, trace: Path | None, output: Path, device: str) -> None:
    """Make the inputs of ``spec`` in ``output/inputs``, what it has to be chosen from, and the run in ``output/run``.

    ``source``: where the images come from; ``trace``: where the trace comes from; None for what needs none.
    """
    catalog, given = sources(CATALOG, {}), {"dataset": source, "trace": trace}
    for what, option, settings in (
        ("dataset", "--source", spec["dataset"]),
        ("trace", "--trace", dict(with_parts("availability", spec.get("availability", {}))).get("trace")),
    ):
        if settings and given[what] is None and not catalog[settings["kind"]].bundled:
            raise ConfigError(f"{option}: the {what} {settings['kind']!r} is not bundled; expected a path")
        if settings and given[what]:
            catalog[settings["kind"]] = Source(settings["kind"], {"bundled": "given"})
    plan = Plan()
    run = plan.runs[add_run(plan, catalog, spec)]
    for place, made in plan.inputs.items():
        files = {"source": given.get(made.what), **{name: output / need for name, need in made.needs.items()}}
        make_input(made.what, made.spec, {name: path for name, path in files.items() if path}, output / place)
    for place, choice in plan.choices.items():
        for path in choice.runs:
            train(path, plan.runs[path], output, device)
        create(choice.settings, choice.runs, output, output / place)
    train("run", run, output, device)


def _run(arguments: argparse.Namespace) -> str:
    if arguments.output.exists():
        raise ConfigError(f"--output {arguments.output}: exists already; expected a new folder")
    run_spec(read_spec(arguments.spec), arguments.source, arguments.trace, arguments.output, arguments.device)
    return str(arguments.output / "run")


def main() -> None:
    """Parse the command line; a user's mistake ends in one line and exit status 1."""
    parser = argparse.ArgumentParser(prog="outagefl", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="train one run")
    run.add_argument("spec", type=Path, help="JSON file with a resolved spec, e.g. a run.json")
    run.add_argument("--output", type=Path, required=True, help="a new folder for the inputs and the run")
    run.add_argument("--source", type=Path, help="archive or folder with the images; not needed for bundled data")
    run.add_argument("--trace", type=Path, help="file with the trace that availability follows; not needed without one")
    run.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    run.set_defaults(action=_run)
    why = commands.add_parser("why", help="say what Snakemake would run in this folder, and why")
    why.add_argument("target", nargs="?", help="a file in results/ or an experiment, e.g. sfg/outages; default: all")
    why.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as for snakemake")
    why.set_defaults(action=lambda arguments: explain(arguments.target, arguments.config))
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        told = arguments.action(arguments)
    except OutageflError as error:
        sys.exit(f"outagefl: {error}")
    print(told)


if __name__ == "__main__":
    main()
