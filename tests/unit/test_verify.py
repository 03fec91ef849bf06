"""What is wrong with results is named: bytes that differ, files that are gone, code and settings that have changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from outagefl.commands import verify
from outagefl.errors import ConfigError, DataError
from outagefl.fingerprint import PACKAGE, digests, used
from outagefl.provenance.check import check_folder
from outagefl.provenance.records import write_record
from tests.unit.recorded_results import CHOICE, DATASET, PARTITION, Job, make_project, run_folder

OUTAGES = "results/quick/sfg/outages"


@pytest.fixture
def project(tmp_path, monkeypatch):
    return make_project(tmp_path / "project", monkeypatch)


def found(project: Path) -> dict[str, tuple[str, str]]:
    """What is wrong: path → kind and why."""
    findings = check_folder(project / "results", "quick", project, project / "workflow").findings()
    return {each.path: (each.kind, each.why) for each in findings}


def edit(path: str, before: str, after: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert before in text
    Path(path).write_text(text.replace(before, after), encoding="utf-8")


def append(path: str, code: str) -> None:
    with Path(path).open("a", encoding="utf-8") as stream:
        stream.write(code)


def test_results_as_they_were_made_have_no_findings(project):
    check = check_folder(project / "results", "quick", project, project / "workflow")
    assert check.findings() == []
    assert {run_folder("sfg"), run_folder("dfedavg")} <= {
        path.removeprefix("results/").removesuffix("/metrics.parquet") for path in check.checked
    }
    assert {f"results/{PARTITION}", f"results/{DATASET}", f"results/{CHOICE}"} <= check.checked.keys()


def test_a_flipped_byte_in_metrics_is_an_edit_and_what_was_made_from_it_is_stale(project):
    path = Path(f"results/{run_folder('sfg')}/metrics.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    wrong = found(project)
    assert wrong.pop(str(path))[0] == "edited"
    assert wrong.pop(f"{OUTAGES}/runs.csv") == ("stale", f"made from {path}, which has changed since")
    assert {kind for kind, _ in wrong.values()} == {"stale"}
    assert f"{OUTAGES}/comparisons.csv" in wrong
    assert "results/quick/claims.csv" in wrong
    assert "results/quick/config.yaml" not in wrong


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (f"{OUTAGES}/comparisons.csv", "0.0123", "0.0321"),
        ("results/quick/claims.html", "S3", "S4"),
        ("results/quick/config.yaml", "scale: quick", "scale: paper"),
    ],
)
def test_an_edited_result_is_named_alone(project, path, before, after):
    edit(path, before, after)
    assert found(project) == {path: ("edited", "its bytes are not those that were made")}


def test_an_edited_choice_is_named_and_the_run_that_used_it_is_stale(project):
    edit(f"results/{CHOICE}", '"value": 3, "cand', '"value": 1, "cand')
    wrong = found(project)
    assert wrong[f"results/{CHOICE}"][0] == "edited"
    assert wrong[f"results/{run_folder('sfg')}/metrics.parquet"][0] == "stale"
    assert f"results/{run_folder('dfedavg')}/metrics.parquet" not in wrong


@pytest.mark.parametrize("path", [f"results/{DATASET}/images.npy", f"results/{PARTITION}"])
def test_an_edited_input_is_named(project, path):
    Path(path).write_bytes(b"others")
    made = path.removesuffix("/images.npy")
    assert found(project)[made][0] == "edited"
    assert found(project)[f"{OUTAGES}/runs.csv"][0] == "stale"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (f"results/{run_folder('sfg')}", f"results/{run_folder('sfg')}/metrics.parquet"),
        (f"results/{PARTITION}", f"results/{PARTITION}"),
        (f"results/{DATASET}", f"results/{DATASET}"),
        (f"results/{CHOICE}", f"results/{CHOICE}"),
        (f"{OUTAGES}/figures/self_weight.png", f"{OUTAGES}/figures/self_weight.png"),
    ],
)
def test_what_was_deleted_is_missing_and_nothing_else_is_wrong(project, path, named):
    shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()
    assert {path: kind for path, (kind, _) in found(project).items()} == {named: "missing"}


@pytest.mark.parametrize("size", [0, 20])
def test_a_truncated_record_of_a_run_is_damaged(project, size):
    path = Path(f"results/{run_folder('sfg')}/run.json")
    path.write_bytes(path.read_bytes()[:size])
    assert found(project)[str(path)][0] == "damaged"


def test_an_edited_record_of_a_run_is_named(project):
    path = f"results/{run_folder('sfg')}/run.json"
    edit(path, '"seed": 0', '"seed": 1')
    assert found(project)[path] == ("edited", "its content is not what was recorded")


def test_a_run_of_an_earlier_version_has_no_checksums(project):
    path = Path(f"results/{run_folder('sfg')}/run.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({key: record[key] for key in ("spec", "inputs", "code")}))
    assert found(project)[str(path)][0] == "unrecorded"


def test_a_record_of_a_job_that_is_damaged_edited_or_gone(project):
    records = [Path(f"results/provenance/{name}.json") for name in ("claims/quick", "comparisons/quick/sfg/outages")]
    records[0].write_text("{")
    edit(str(records[1]), '"title": "Outages"', '"title": "Inputs"')
    Path("results/provenance/figure/quick/sfg/outages/self_weight.json").unlink()
    wrong = found(project)
    assert wrong[str(records[0])][0] == "damaged"
    assert wrong[str(records[1])][0] == "edited"
    assert wrong[f"{OUTAGES}/figures/self_weight.png"][0] == "unrecorded"
    assert wrong["results/quick/claims.csv"][0] == "unrecorded"


def test_a_file_that_nobody_recorded_is_named_and_hidden_ones_are_not(project):
    for name in ("notes.txt", ".DS_Store"):
        Path(f"{OUTAGES}/{name}").write_text("")
    assert {path: kind for path, (kind, _) in found(project).items()} == {f"{OUTAGES}/notes.txt": "unrecorded"}


def test_a_changed_rule_makes_its_runs_stale_and_is_named(project):
    append("workflow/outagefl/rules/gossip/sfg.py", "\nUNUSED = 1\n")
    wrong = found(project)
    run = f"results/{run_folder('sfg')}/metrics.parquet"
    assert wrong[run] == ("stale", "made by code that has changed since: outagefl.rules.gossip.sfg")
    assert wrong[f"{OUTAGES}/runs.csv"] == ("stale", f"made from {run}, which is stale")
    assert f"results/{run_folder('dfedavg')}/metrics.parquet" not in wrong


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("scripts/comparisons.py", "script:comparisons.py"),
        ("outagefl/analysis/pairing.py", "outagefl.analysis.pairing"),
    ],
)
def test_changed_code_of_a_table_makes_the_table_stale(project, file, module):
    append(f"workflow/{file}", "\nUNUSED = 1\n")
    assert module in found(project)[f"{OUTAGES}/comparisons.csv"][1]
    assert f"{OUTAGES}/runs.csv" not in found(project)


def test_code_that_is_gone_or_no_python_counts_as_changed_and_a_comment_does_not(project):
    Path("workflow/outagefl/rules/gossip/sfg.py").unlink()
    append("workflow/scripts/claims.py", "\ndef broken(:\n")
    append("workflow/scripts/comparisons.py", "\n# a remark\n")
    wrong = found(project)
    assert "outagefl.rules.gossip.sfg" in wrong[f"results/{run_folder('sfg')}/metrics.parquet"][1]
    assert "script:claims.py" in wrong["results/quick/claims.csv"][1]
    assert "script" not in wrong[f"{OUTAGES}/comparisons.csv"][1]


def test_changed_published_claims_make_the_verdicts_stale(project):
    append("config/claims.yaml", "# another remark\n")
    assert not found(project)
    edit("config/claims.yaml", "published: 4.0", "published: 4.1")
    [(path, (kind, why))] = found(project).items()
    assert (path, kind) == ("results/quick/claims.csv", "stale")
    assert why.startswith("config/claims.yaml has changed since: ")
    assert why.endswith(": sfg.S3.published")


def test_a_damaged_record_of_another_scale_is_not_this_ones(project):
    record = Path("results/provenance/claims/laptop.json")
    Path("results/laptop").mkdir()
    record.write_text("{")
    assert not found(project)
    record.rename("results/provenance/claims/quick.json")
    assert found(project)


def test_a_changed_configuration_names_the_keys(project):
    edit("config/studies/sfg.yaml", "seeds: 10\n", "seeds: 11\n")
    edit("config/scales/quick.yaml", "rounds: 30\n", "rounds: 31\n")
    [(path, (kind, why))] = found(project).items()
    assert (path, kind) == ("results/quick/config.yaml", "stale")
    assert why.endswith("study_settings.sfg.setting.rounds")


def test_a_configuration_that_is_no_longer_valid_is_told(project):
    append("config/studies/sfg.yaml", "\nseed: 3\n")
    assert "unknown key 'seed'" in found(project)["results/quick/config.yaml"][1]


def test_another_version_of_python_is_no_other_code(project, monkeypatch):
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    assert not found(project)


def test_records_tell_nothing_of_where_local_files_lie(project):
    record = json.loads(Path(f"results/provenance/input/{DATASET.removeprefix('inputs/')}.json").read_text())
    assert list(record["from"]) == ["source"]
    told = "".join(path.read_text(encoding="utf-8") for path in Path("results").rglob("*.json"))
    assert str(project.parent) not in told


def test_a_job_whose_code_has_changed_since_it_was_planned_is_refused(project):
    code = {**used((), ["runs.py"]), "digest": "0" * 64}
    with pytest.raises(DataError, match="changed since this job was planned"):
        write_record(Job("runs/quick", [], [], code), [], 0.0)


def test_the_code_of_a_job_is_that_of_its_scripts_and_modules():
    found = digests(used(["outagefl.analysis.figures.self_weight"], ["figure.py"]))
    assert {"script:figure.py", "outagefl.analysis.figures.self_weight", "outagefl.analysis.style"} <= found.keys()


def command(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "outagefl", "verify", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(project / "workflow"), **environment}
    return subprocess.run(call, cwd=project, env=environment, capture_output=True, encoding="utf-8", check=False)


def test_the_command_tells_in_words_and_by_its_status(project):
    done = command(project, "results/quick")
    assert (done.returncode, done.stderr) == (0, "")
    assert "checked: 2 runs, 2 inputs, 1 choices" in done.stdout
    edit(f"{OUTAGES}/comparisons.csv", "0.0123", "0.0321")
    done = command(project, "results/quick")
    assert done.returncode == 1
    assert "edited" in done.stdout
    assert f"    {OUTAGES}/comparisons.csv\n" in done.stdout


def test_the_locale_has_no_influence(project):
    done = command(
        project, "results/quick", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_long_lists_are_cut_unless_all_is_asked_for(project):
    for number in range(12):
        Path(f"{OUTAGES}/extra{number}.txt").write_text("")
    check = verify.checked(Path("results/quick"))
    assert "and 2 more (--all)" in verify.told(check, 10)
    assert "extra9.txt" in verify.told(check, None)


@pytest.mark.parametrize("path", ["results", "results/paper", "nowhere", verify.PROJECT / "config"])
def test_what_holds_no_results_is_refused(project, path):
    with pytest.raises(ConfigError, match=r"expected a folder with the results of a scale"):
        verify.checked(Path(path))


def test_what_lacks_the_configuration_it_was_made_with_says_how_to_get_it(project):
    Path("results/quick/config.yaml").unlink()
    with pytest.raises(
        ConfigError, match=r"^results/quick/config\.yaml: no such file; `\S+ results/quick/config\.yaml`"
    ):
        verify.checked(Path("results/quick"))


def test_what_was_never_made_is_told_by_the_report_that_is_lacking(project):
    note = "they are not all there; `make reproduce SCALE=quick` goes on\n"
    assert command(project, "results/quick").stdout.endswith(note)
    Path("results/quick/report.html").touch()
    assert note not in command(project, "results/quick").stdout


def test_no_text_is_read_or_written_in_the_encoding_of_the_locale():
    """Every call in the library that opens a file as text says its encoding."""
    import ast  # noqa: PLC0415

    wrong = []
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                keys = {key.arg for key in call.keywords}
                if call.func.attr in ("read_text", "write_text") and "encoding" not in keys:
                    wrong.append(f"{path}:{call.lineno}")
    assert wrong == []
