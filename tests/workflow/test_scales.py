"""The large scales, finished without training: Snakemake must find nothing left to do."""

import re

import pytest
import yaml

from outagefl.config import load, read_yaml
from outagefl.files import write_json
from outagefl.fingerprint import digests, used
from outagefl.provenance.records import checksum, sealed
from outagefl.runs import jobs
from outagefl.runs.index import write_index
from outagefl.runs.plan import make_plan
from outagefl.sources.catalog import sources
from tests.workflow.conftest import Project

STUDIES = ("sfg", "fedswe", "dflaa")
ONE_SEED = {study: {"seeds": 1} for study in STUDIES}


def pretend_to_have_trained(project: Project, scale: str) -> None:
    """Put something in the place of every input, run and choice; write the real indexes and their records."""
    config, results = project.root / "config", project.root / "results"
    settings = load(read_yaml(config / "config.yaml") | {"scale": scale}, config)
    plan = make_plan(settings, sources(config / "sources.yaml", {}))
    runs = [f"{run}/{name}" for run in plan.runs for name in ("metrics.parquet", "run.json")]
    for path in [*plan.inputs, *runs, *plan.choices]:
        (results / path).parent.mkdir(parents=True, exist_ok=True)
        (results / path).touch()
    code = digests(used(["outagefl.runs.index"], ["index.py"]))
    for name, experiment in plan.experiments.items():
        index = results / scale / name / "runs.csv"
        write_index(jobs.index_rows(experiment), results, index)
        record = sealed({"made": {f"results/{scale}/{name}/runs.csv": checksum(index)}, "from": {}, "code": code})
        write_json(results / "provenance" / "index" / scale / f"{name}.json", record)


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_nothing_is_planned_after_a_finished_scale(tmp_path, scale):
    project = Project.new(tmp_path / "project", STUDIES)
    main = project.root / "config" / "config.yaml"
    main.write_text(yaml.safe_dump({**yaml.safe_load(main.read_text()), "overrides": ONE_SEED}))
    pretend_to_have_trained(project, scale)
    output = project.finish("-n", scale=scale)
    rules = set(re.findall(r"^(?:local)?rule (\w+):$", output, re.MULTILINE))
    assert rules == {
        "comparisons",
        "table",
        "figure",
        "claims",
        "runs",
        "resolved_config",
        "theory",
        "findings",
        "report",
        "all",
    }
    for line in re.findall(r"^ +output: (.*)$", output, re.MULTILINE):
        for path in line.split(", "):
            (project.root / path).parent.mkdir(parents=True, exist_ok=True)
            (project.root / path).touch()
    project.finish("--touch", "--forceall", "--cores", "1", scale=scale)  # has the parameters of all jobs written down
    output = project.finish("-n", scale=scale)
    assert "Nothing to be done" in output
    assert "missing provenance" not in output
