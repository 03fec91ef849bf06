"""What would be run and why, in plain words: ``outagefl why`` in a finished folder in which something was changed."""

import shutil

import pytest

from tests.workflow.conftest import outagefl

LIBRARY = "workflow/outagefl"


def why(project, *arguments):
    """What is told about the tiny scale."""
    done = outagefl(project, "why", *arguments, "--config", "scale=tiny")
    assert done.returncode == 0, done.stderr
    return done.stdout


def append(project, module, text):
    with (project.root / LIBRARY / module).open("a") as stream:
        stream.write(text)


@pytest.mark.parametrize("target", [[], ["sfg/outages"], ["results/tiny/sfg/outages/runs.csv"]])
def test_nothing_would_be_run_when_all_is_finished(finished, target):
    told = why(finished, *target)
    assert told.startswith(f"Nothing would be run: {target[0] if target else 'everything'} is there")


def test_an_edited_rule_is_named_and_what_follows_from_it_too(finished):
    append(finished, "rules/gossip/sfg.py", "\nUNUSED = 1\n")
    told = why(finished)
    assert "2 × train: new; the nearest finished run has code" in told
    assert ": outagefl.rules.gossip.sfg\n" in told
    assert "index: its runs are other ones than listed\n    results/tiny/sfg/outages/runs.csv" in told
    assert "figure: made from what is made anew: results/tiny/sfg/outages/runs.csv" in told


def test_a_changed_setting_is_told_with_both_values(finished):
    finished.change(lambda study: study["setting"]["training"].update(steps=3))
    told = why(finished, "results/tiny/sfg/outages/runs.csv")
    assert "8 × train: new; the nearest finished run has training.steps: 2 → 3\n" in told


def test_inputs_that_differ_are_named(finished):
    finished.change(lambda study: study["setting"]["partition"].update(alpha=0.5))
    assert "partition.alpha: 1.0 → 0.5; other inputs: partition\n" in why(finished, "sfg/outages")


def test_a_new_seed_and_a_damaged_run_are_told(finished):
    run = next(iter(finished.metrics()))
    (finished.root / "results" / run / "run.json").unlink()
    finished.change(lambda study: study.update(seeds=3))
    told = why(finished)
    assert f"1 × train: its folder lacks run.json\n    {run}\n" in told
    assert "new; no such run with this seed (finished: 0, 1)" in told


def test_code_of_a_figure_that_was_edited_is_named(finished):
    append(finished, "analysis/style.py", "\nUNUSED = 1\n")
    told = why(finished)
    assert "4 × figure: made with other code: outagefl.analysis.style\n" in told
    assert "train" not in told
    shutil.rmtree(finished.root / "results/provenance/figure")
    assert "figure: made with other code\n" in why(finished)


def test_options_of_an_analysis_and_lost_files_are_told(finished):
    finished.change(lambda study: study["experiments"]["outages"].update(title="Another title"))
    (finished.root / "results/tiny/claims.html").unlink()
    told = why(finished)
    assert "comparisons: made with other settings: Every rule under outages → Another title\n" in told
    assert "claims: there is none yet\n" in told


@pytest.mark.parametrize(
    "lost",
    [
        {"comparisons.csv": "comparisons", "tables/wins.csv": "table", "figures/self_weight.pdf": "figure"},
        {"comparison.tex": "comparisons"},
    ],
)
def test_whatever_an_experiment_has_lost_is_told(finished, lost):
    for name in lost:
        (finished.root / "results/tiny/sfg/outages" / name).unlink()
    told = why(finished, "sfg/outages")
    for rule in lost.values():
        assert f"1 × {rule}: there is none yet\n" in told


def test_an_unknown_target_is_one_line(finished):
    done = outagefl(finished, "why", "results/tiny/sfg/outage/runs.csv", "--config", "scale=tiny")
    assert done.returncode == 1
    assert done.stderr.startswith("outagefl: ")
    assert "results/tiny/sfg/outage/runs.csv" in done.stderr
    assert "Traceback" not in done.stderr
