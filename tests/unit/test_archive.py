"""An archive holds all that results are made of nothing of the machine, and tells when it was tampered with."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from rocrate.rocrate import ROCrate

from outagefl.__main__ import main
from outagefl.errors import DataError
from outagefl.provenance.archive import pack
from outagefl.provenance.check import check_folder
from outagefl.provenance.manifest import MANIFEST
from outagefl.provenance.packed import check_archive
from tests.unit.recorded_results import CHOICE, DATASET, PARTITION, make_project, run_folder, write

COMPARISONS = "results/quick/sfg/outages/comparisons.csv"
RULE = "workflow/outagefl/rules/gossip/sfg.py"


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = make_project(tmp_path / "project", monkeypatch)
    (root / "results" / ".checkpoints" / "sfg").mkdir(parents=True)
    (root / "results" / ".checkpoints" / "sfg" / "sfg-s0.pt").write_bytes(b"of a run that is not finished")
    return root


@pytest.fixture
def archive(project):
    return packed(project)


def packed(project: Path, name: str = "archive.zip", *, with_inputs: bool = False) -> Path:
    pack(project / "results", "quick", project, project.parent / name, with_inputs=with_inputs)
    return project.parent / name


def names(archive: Path) -> set[str]:
    return set(zipfile.ZipFile(archive).namelist())


def found(archive: Path) -> dict[str, tuple[str, str]]:
    return {each.path: (each.kind, each.why) for each in check_archive(archive).findings()}


def rewritten(archive: Path, changes: dict[str, bytes | None], *, forge: bool = False) -> Path:
    """A copy with members changed, added or (None) left out; ``forge``: and with a manifest that fits."""
    contents = {name: zipfile.ZipFile(archive).read(name) for name in names(archive)} | changes
    contents = {name: content for name, content in contents.items() if content is not None}
    if forge:
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items() if name != MANIFEST}
        contents[MANIFEST] = "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()
    target = archive.with_name("rewritten.zip")
    with zipfile.ZipFile(target, "w") as new:
        for name, content in contents.items():
            new.writestr(zipfile.ZipInfo(name), content)
    return target


def test_an_archive_holds_results_runs_choices_records_code_and_configuration(archive):
    held = names(archive)
    assert not [name for name in held if ".checkpoints" in name]
    for method in ("sfg", "dfedavg"):
        assert {f"results/{run_folder(method)}/{name}" for name in ("metrics.parquet", "run.json")} <= held
    assert {COMPARISONS, "results/quick/claims.html", f"results/{CHOICE}", "envs/requirements.lock", RULE} <= held
    assert {"workflow/Snakefile", "config/config.yaml", "ro-crate-metadata.json", "ro-crate-preview.html"} <= held
    assert f"results/provenance/input/{PARTITION.removeprefix('inputs/')}.json" in held
    assert not any(name.startswith("results/inputs/") or "__pycache__" in name for name in held)
    assert found(archive) == {}


def test_pages_are_packed_but_not_the_evidence_of_other_runs(project):
    for path in ("docs/results.md", "docs/evidence/report.html", "config/notes.txt"):
        write(path, "Text.")
    held = names(packed(project))
    assert {"docs/results.md", "config/README.md"} <= held
    assert not held & {"docs/evidence/report.html", "config/notes.txt"}


def test_inputs_are_packed_on_request_but_not_data_from_elsewhere(project):
    archive = packed(project, with_inputs=True)
    inputs = {name for name in names(archive) if name.startswith("results/inputs/")}
    assert inputs == {f"results/{PARTITION}"}
    assert Path(f"results/{DATASET}/images.npy").is_file()
    assert found(archive) == {}


def test_the_same_results_give_the_same_bytes(project, archive):
    for path in project.rglob("*"):
        os.utime(path, (1.2e9, 1.2e9))
    assert packed(project, "again.zip").read_bytes() == archive.read_bytes()


def test_every_reader_can_check_it_and_go_on_from_it(archive, tmp_path):
    zipfile.ZipFile(archive).extractall(tmp_path / "there")
    subprocess.run(["sha256sum", "--check", "--quiet", MANIFEST], cwd=tmp_path / "there", check=True)
    call = [sys.executable, "-m", "outagefl", "verify", str(archive)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "there" / "workflow")}
    done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "all as they were made" in done.stdout


@pytest.mark.parametrize("with_inputs", [False, True])
def test_unpacked_and_untouched_it_is_as_it_was_made_and_what_it_came_with_is_missed(project, tmp_path, with_inputs):
    there = tmp_path / "there"
    zipfile.ZipFile(packed(project, with_inputs=with_inputs)).extractall(there)

    def found() -> dict[str, str]:
        findings = check_folder(there / "results", "quick", there, there / "workflow").findings()
        return {each.path: each.kind for each in findings}

    # Data are never packed, a partition is on request.
    assert found() == {}
    (there / f"results/{PARTITION}").unlink(missing_ok=True)
    assert found() == ({f"results/{PARTITION}": "missing"} if with_inputs else {})
    (record := there / f"results/provenance/input/{PARTITION.removeprefix('inputs/')}.json").unlink()
    assert found()[f"results/{PARTITION}"] == "missing", record


def test_a_manifest_that_lists_nothing_is_told(project):
    Path(MANIFEST).write_text("no checksum\n")
    with pytest.raises(DataError, match="SHA256SUMS: not a list of checksums"):
        check_folder(project / "results", "quick", project, project / "workflow")


def test_the_metadata_is_that_of_a_research_object(archive, tmp_path):
    zipfile.ZipFile(archive).extractall(tmp_path / "there")
    crate = ROCrate(tmp_path / "there")
    assert crate.mainEntity.id == "workflow/Snakefile"
    described = {entity.id: entity for entity in crate.data_entities}
    assert described.keys() == names(archive) - {MANIFEST, "ro-crate-metadata.json", "ro-crate-preview.html"}
    content = zipfile.ZipFile(archive).read(COMPARISONS)
    assert described[COMPARISONS]["sha256"] == hashlib.sha256(content).hexdigest()
    assert described[COMPARISONS]["contentSize"] == str(len(content))
    action = crate.dereference("#results/provenance/comparisons/quick/sfg/outages.json")
    assert [each.id for each in action["object"]] == ["results/quick/sfg/outages/runs.csv"]
    assert COMPARISONS in [each.id for each in action["result"]]
    index = crate.dereference("#results/provenance/index/quick/sfg/outages.json")
    assert f"results/{run_folder('sfg')}/metrics.parquet" in [each.id for each in index["object"]]


def test_the_page_links_what_is_there_and_escapes_what_is_told(project):
    path = Path("results/quick/sfg/<b>/figures/x.png")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    archive = packed(project)
    page = zipfile.ZipFile(archive).read("ro-crate-preview.html").decode()
    assert 'href="results/quick/claims.html"' in page
    assert 'src="results/quick/sfg/outages/figures/self_weight.png"' in page
    assert "findings.html" not in page
    assert "<b>" not in page


def test_nothing_tells_of_this_machine(project):
    main_file = Path("config/config.yaml")
    content = yaml.safe_load(main_file.read_text(encoding="utf-8"))
    main_file.write_text(yaml.safe_dump({**content, "local": {"cifar10": "/home/alice/c.tar"}}), encoding="utf-8")
    archive = packed(project)
    for name in names(archive):
        content = zipfile.ZipFile(archive).read(name)
        assert str(project.parent).encode() not in content, name
        assert b"alice" not in content, name
    assert yaml.safe_load(zipfile.ZipFile(archive).read("config/config.yaml"))["local"] == {}


def test_a_text_with_a_path_of_this_machine_is_not_packed(project):
    Path("config/notes.yaml").write_text(f"note: {project}/results")
    with pytest.raises(DataError, match=r"config/notes\.yaml: tells the path"):
        packed(project)
    assert not (project.parent / "archive.zip").exists()


def test_a_killed_or_failed_archive_leaves_the_old_one(project, archive, monkeypatch):
    before = archive.read_bytes()
    monkeypatch.setattr(shutil, "copyfileobj", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        packed(project)
    assert archive.read_bytes() == before
    assert not list(archive.parent.glob(".tmp-*"))


def command(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["outagefl", *arguments])
    return main()


def test_the_command_packs_what_verify_has_nothing_against(project, monkeypatch, capsys):
    assert command(monkeypatch, "archive", "results/quick") == 0
    assert capsys.readouterr().out == "results/outagefl-quick.zip\n"
    assert command(monkeypatch, "verify", "results/outagefl-quick.zip") == 0


def test_the_command_refuses_what_verify_finds_fault_with(project, monkeypatch, capsys):
    Path(COMPARISONS).write_text("method,difference\nsfg,9\n")
    with pytest.raises(SystemExit, match="not packed"):
        command(monkeypatch, "archive", "results/quick")
    assert COMPARISONS in capsys.readouterr().out
    assert not Path("results/outagefl-quick.zip").exists()


def test_the_command_refuses_results_of_a_deployment_which_has_no_code(project, monkeypatch):
    shutil.rmtree("workflow/outagefl")
    with pytest.raises(SystemExit, match=r"lacks the code in workflow/outagefl"):
        command(monkeypatch, "archive", "results/quick")


def test_members_that_were_edited_left_out_or_added(archive):
    other = rewritten(archive, {COMPARISONS: b"method\n", "results/quick/claims.csv": None, "extra.txt": b"x"})
    kinds = {path: kind for path, (kind, _) in found(other).items()}
    assert kinds == {COMPARISONS: "edited", "results/quick/claims.csv": "missing", "extra.txt": "additional"}


def test_a_manifest_that_was_made_to_fit_does_not_hide_an_edit(archive):
    metrics = f"results/{run_folder('sfg')}/metrics.parquet"
    other = rewritten(archive, {COMPARISONS: b"method\n", metrics: b"PAR1"}, forge=True)
    assert found(other)[COMPARISONS][0] == "edited"
    assert found(other)[metrics][0] == "edited"


def test_code_that_did_not_make_the_results_is_named(archive):
    other = rewritten(archive, {RULE: zipfile.ZipFile(archive).read(RULE) + b"\nUNUSED = 1\n"}, forge=True)
    why = "made by code that has changed since: outagefl.rules.gossip.sfg"
    assert found(other)[f"results/{run_folder('sfg')}/metrics.parquet"] == ("stale", why)


def test_local_paths_in_any_configuration_stay_here(project):
    Path("config/mine.yaml").write_text("scale: quick\nlocal: {cifar10: /data/secret.tar}\n")
    Path("config/config.yaml~").write_text("local: {cifar10: /data/secret.tar}\n")
    pack(Path("results").absolute(), "quick", Path.cwd(), Path("results.zip"), with_inputs=False)
    with zipfile.ZipFile("results.zip") as packed:
        assert "config/config.yaml~" not in packed.namelist()
        assert b"secret" not in packed.read("config/mine.yaml")


def test_another_version_of_python_checks_the_same(archive, monkeypatch):
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    assert not check_archive(archive).findings()


def test_a_broken_member_is_damaged(archive):
    info = zipfile.ZipFile(archive).getinfo(RULE)
    content = bytearray(archive.read_bytes())
    content[info.header_offset + len(RULE) + 80] ^= 0xFF
    archive.write_bytes(content)
    assert found(archive)[RULE][0] == "damaged"


@pytest.mark.parametrize("content", [None, b"no checksum\n", b"\xff\xfe"])
def test_without_a_manifest_it_is_no_archive_of_results(archive, content):
    assert found(rewritten(archive, {MANIFEST: content}))[MANIFEST][0] in ("missing", "damaged")


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside", "results/../../outside", "..\\outside", "C:\\outside"])
def test_names_that_lead_out_are_refused_and_nothing_is_written(archive, name, tmp_path):
    other = rewritten(archive, {name: b"x"})
    before = sorted(tmp_path.rglob("*"))
    assert {kind for kind, _ in found(other).values()} == {"refused"}
    assert found(other).keys() == {name}
    assert sorted(tmp_path.rglob("*")) == before


def test_a_name_that_stands_twice_is_refused(archive):
    with zipfile.ZipFile(archive, "a") as new, pytest.warns(UserWarning, match="Duplicate name"):
        new.writestr(COMPARISONS, b"method\n")
    assert found(archive) == {COMPARISONS: ("refused", "it is there twice")}


def test_what_is_no_zip_file_is_told(tmp_path):
    path = tmp_path / "results.zip"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(DataError, match=r"results\.zip: not a zip file"):
        check_archive(path)


def test_the_metadata_is_deterministic_json_of_version_1_3(archive):
    metadata = json.loads(zipfile.ZipFile(archive).read("ro-crate-metadata.json"))
    assert metadata["@context"] == "https://w3id.org/ro/crate/1.3/context"
