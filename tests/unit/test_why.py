"""The words in which changes and Snakemake's reasons are told."""

import json

import pytest

from outagefl import fingerprint
from outagefl.errors import DataError
from outagefl.files import write_json
from outagefl.provenance.records import record_file, sealed
from outagefl.runs.plan import Run, run_code
from outagefl.runs.why import changes, differences, plain, planned, why_run

SPEC = {
    "study": "sfg",
    "engine": "gossip",
    "seed": 3,
    "training": {"steps": 5},
    "model": {"kind": "mlp"},
    "rule": {"kind": "sfg", "gamma": 0.5},
}
RUN = Run(SPEC, {"partition": "inputs/partition/a-1"})
FOLDER = "runs/sfg/sfg-digits-markov-s3-00000000"


def record(**changed):
    """The ``run.json`` of a finished run like RUN, with changes."""
    return {"spec": SPEC, "inputs": RUN.inputs, "code": run_code(SPEC), "commit": "0123456789abcdef", **changed}


def finish(root, name, **changed):
    folder = root / "runs" / "sfg" / name
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(record(**changed)))


def test_changes_are_dotted_with_both_values():
    new = {**SPEC, "training": {"steps": 3, "flip": True}, "rule": {"kind": "sfg"}}
    assert list(changes(SPEC, new)) == [
        "training.steps: 5 → 3",
        "training.flip: nothing → True",
        "rule.gamma: 0.5 → nothing",
    ]


def test_code_and_inputs_that_differ_are_named():
    code = {**run_code(SPEC), "outagefl.rules.gossip.sfg": "0", "outagefl.gone": "0"}
    found = differences(record(code=code, inputs={"partition": "inputs/partition/a-2"}), RUN)
    assert found == ["code since commit 01234567: outagefl.gone, outagefl.rules.gossip.sfg", "other inputs: partition"]


def test_a_run_is_held_against_the_nearest_finished_one(tmp_path):
    assert why_run(FOLDER, RUN, tmp_path) == "new; no such run is finished"
    finish(tmp_path, "sfg-digits-markov-s7-22222222")
    assert why_run(FOLDER, RUN, tmp_path) == "new; no such run with this seed (finished: 7)"
    finish(tmp_path, "sfg-digits-markov-s3-33333333", spec={**SPEC, "training": {"steps": 1}, "rule": {"kind": "sfg"}})
    finish(tmp_path, "sfg-digits-markov-s3-44444444", spec={**SPEC, "training": {"steps": 4}})
    assert why_run(FOLDER, RUN, tmp_path) == "new; the nearest finished run has training.steps: 4 → 5"
    (tmp_path / FOLDER).mkdir()
    assert why_run(FOLDER, RUN, tmp_path) == "its folder lacks metrics.parquet and run.json"


def test_a_damaged_record_is_named(tmp_path):
    finish(tmp_path, "sfg-digits-markov-s3-33333333")
    file = tmp_path / "runs/sfg/sfg-digits-markov-s3-33333333/run.json"
    file.write_text(file.read_text()[:40])
    with pytest.raises(DataError, match=f"{file}: not readable as JSON"):
        why_run(FOLDER, RUN, tmp_path)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("Missing output files: a.csv", "there is none yet"),
        (
            "Missing output files: a.csv; Input files updated by another job: a, b, c, d, e",
            "there is none yet",
        ),
        (
            "Input files updated by another job: a, b, c, d, e",
            "made from what is made anew: a, b, c and 2 more",
        ),
        ("Updated input files: b.csv", "made before its input was changed: b.csv"),
        (
            "Params have changed since last execution: Union of exclusive params before and now across all output: "
            "before: {'tail': 0.1, 'level': 'x; Y z'} now: {'tail': 0.2, 'level': 'x; Y z'} ",
            "made with other settings: tail: 0.1 → 0.2",
        ),
        (
            "Params have changed since last execution: Union of exclusive params before and now across all output: "
            "before: {'modules': ['a.b'], 'digest': 'a'} now: {'modules': ['a.b'], 'digest': 'b'} ",
            "made with other code",
        ),
        ("Something that is new in Snakemake", "Something that is new in Snakemake"),
    ],
)
def test_reasons_in_plain_words(reason, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert plain(reason, "results/logs/figure/a.log") == told


def test_modules_that_changed_since_a_job_are_found_in_its_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = fingerprint.closure(["outagefl.analysis.style"]) | {"outagefl.analysis.style": "0", "outagefl.gone": "0"}
    write_json(record_file("results/logs/figure/a.log"), sealed({"made": {}, "from": {}, "code": code}))
    reason = "Params have changed since last execution: before: {'digest': 'a'} now: {'digest': 'b'} "
    told = "made with other code: outagefl.analysis.style, outagefl.gone"
    assert plain(reason, "results/logs/figure/a.log") == told


def test_the_jobs_of_a_dry_run_are_read():
    output = """Building DAG of jobs...
[Mon Nov 30 12:35:37 2026]
rule figure:
    input: a.csv
    output: b.pdf, b.png
    reason: Missing output files: b.png
    wildcards: experiment=sfg/margins, figure=b
[Mon Nov 30 12:35:37 2026]
localrule all:
    input: b.png
    reason: Input files updated by another job: b.png
Job stats:
job    count
"""
    assert [(job["rule"], job.get("output"), job["reason"]) for job in planned(output)] == [
        ("figure", "b.pdf, b.png", "Missing output files: b.png"),
        ("all", None, "Input files updated by another job: b.png"),
    ]
