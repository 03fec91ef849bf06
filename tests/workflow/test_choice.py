"""A margin chosen on validation seeds through Snakemake: what is made for a choice, and what uses it."""

import json
import shutil

import pandas as pd

from outagefl.config import load, read_yaml
from outagefl.runs.plan import make_plan
from outagefl.sources.catalog import sources

RUNS = "results/tiny/runs.csv"
VALIDATION, MARGINS = [7], [0, 9]


def choose_margins(study):
    """One experiment: every candidate as a method of its own, and the one that is chosen."""
    choice = {"kind": "best_mean", "candidates": MARGINS, "seeds": VALIDATION, "tail": 0.5}
    rules = {f"cut_{margin}": {"kind": "sfg_cut", "gamma": 0.5, "margin": margin} for margin in MARGINS}
    rules["sfg_validated"] = {"kind": "sfg_cut", "gamma": 0.5, "margin": choice}
    study["methods"] = {name: {"rule": rule} for name, rule in rules.items()}
    experiment = {
        "factors": {"availability": [{"kind": "bernoulli", "probability": 0.6}], "topology": None},
        "methods": ["dfedavg", *rules],
    }
    study["seeds"] = 1
    study["experiments"] |= {"outages": None, "margins": experiment}


def planned_choice(project):
    """The path of the one choice in the project's plan."""
    folder = project.root / "config"
    config = read_yaml(folder / "config.yaml") | {"scale": "tiny"}
    [choice] = make_plan(load(config, folder), sources(folder / "sources.yaml", {})).choices
    return f"results/{choice}"


def records(project):
    """What is written down beside every run there is."""
    return [json.loads(path.read_text()) for path in (project.root / "results/runs/sfg").glob("*/run.json")]


def test_a_choice_needs_validation_seeds_only_and_what_is_compared_uses_it(project):
    project.change(choose_margins)
    project.tiny.write_text(project.tiny.read_text().replace("runs_per_job: 4", "runs_per_job: 8"))
    choice = planned_choice(project)
    # All that Snakemake finds necessary for the choice: no run, partition, graph or outage of another seed.
    project.finish("--cores", "2", choice)
    made = [record["spec"] for record in records(project)]
    assert sorted((spec["rule"]["margin"], spec["seed"]) for spec in made) == [(0, 7), (9, 7)]
    for what in ("partition", "availability"):
        assert all("-s7-" in path.name for path in (project.root / "results/inputs" / what).iterdir())
    before = (project.root / choice).read_text()
    (project.root / choice).unlink()

    project.finish("--cores", "2", RUNS)
    assert project.planned(RUNS) == {}
    assert project.planned(choice) == {}
    assert (project.root / choice).read_text() == before
    value = json.loads(before)["value"]
    [chosen] = {record["choice"]["value"] for record in records(project) if record["choice"]}
    assert chosen == value
    index = pd.read_csv(project.root / RUNS).set_index("method")
    assert index.loc["sfg_validated", "checksum"] == index.loc[f"cut_{value}", "checksum"]
    assert index["checksum"].nunique() == 3

    shutil.rmtree(project.root / "results" / index.loc["sfg_validated", "run"])
    (project.root / choice).unlink()
    planned = project.planned(f"results/{index.loc['sfg_validated', 'run']}/metrics.parquet")
    assert planned == {"choice": 1, "train": 1, "run": 1}
