"""What the page takes from records: the runs behind it, and what an experiment is."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd

from outagefl.analysis.writers import write_html
from outagefl.fingerprint import used
from outagefl.provenance.records import write_record
from outagefl.provenance.tree import Tree
from outagefl.report.facts import records_behind
from outagefl.report.sections import AUDIT, Shelf, of_studies
from outagefl.report.templates import environment
from tests.unit.recorded_results import CHOICE, Job, make_project, run_folder, write


def test_a_page_tells_of_the_runs_behind_it_alone(tmp_path, monkeypatch):
    make_project(tmp_path / "project", monkeypatch)
    removed, index = "results/runs/sfg/removed/metrics.parquet", "results/quick/sfg/removed/runs.csv"
    write(removed, "metrics of an experiment that is no longer asked for")
    write(index, "study,run\n")
    write_record(Job("index/quick/sfg/removed", [], [index], used((), ["index.py"])), [removed], time.time())
    behind = records_behind(Tree(Path("results"), Path()), ["results/quick/claims.csv"])
    runs = {f"results/{run_folder(method)}/metrics.parquet" for method in ("dfedavg", "sfg")}
    assert {path for path in behind if "/runs/" in path} == runs
    assert f"results/{CHOICE}" in behind
    assert index not in behind


def test_an_experiment_with_single_quirks_of_released_code_is_an_audit_and_comes_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    protocols = {"quirks": ["paper", "released", "one_quirk"], "both": ["paper", "released"], "plain": None}
    for name in protocols:
        path = Path(f"results/quick/dflaa/{name}/comparison.html")
        path.parent.mkdir(parents=True)
        write_html(pd.DataFrame({"score": ["1"]}), path, name)
        settings = {"title": name, "ran": "all", "analysis": {"tail": 0.1}}
        code = used((), ["comparisons.py"])
        write_record(Job(f"comparisons/quick/dflaa/{name}", [], [str(path)], code, **settings), [], time.time())
    experiments = {name: {"factors": {"protocol": own}} if own else {} for name, own in protocols.items()}
    configuration = {"studies": ["dflaa"], "study_settings": {"dflaa": {"title": "", "experiments": experiments}}}
    given = {"scale": "quick", "studies": ["dflaa"]}
    shelf = Shelf(Tree(Path("results"), Path()), Path("results"), given, environment())
    shown = {f"dflaa/{name}": {"figures": [], "tables": []} for name in protocols}
    [section] = of_studies(shelf, configuration, shown, [])
    kinds = [(group.anchor.removeprefix("dflaa/"), group.kind) for group in section.groups]
    assert kinds == [("both", ""), ("plain", ""), ("quirks", AUDIT)]
