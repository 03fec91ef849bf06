"""Whoever cannot have the results folder is told why, whatever the machine looks like."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from outagefl import scripting, workspace
from outagefl.runs.left_behind import in_doubt
from outagefl.runs.plan import Plan

CLAIM = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from outagefl.workspace import claim_workspace
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[3]))
claim_workspace(Path(sys.argv[2]))
print("claimed", flush=True)
sys.stdin.read()
"""
NOBODY = 65534


def claim(results: Path, user: int = 0) -> subprocess.Popen[str]:
    """A process of this user that holds the folder until its input ends."""
    workflow = Path(workspace.__file__).parents[1]
    command = [sys.executable, "-c", CLAIM, str(workflow), str(results), str(user)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_another_user_is_told_who_is_at_work_and_afterwards_whose_file_is_in_the_way(tmp_path):
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)  # others may come here
    results = tmp_path / "results"
    results.mkdir()
    results.chmod(0o777)
    with claim(results) as first:
        assert first.stdout.readline() == "claimed\n"
        _, told = claim(results, user=NOBODY).communicate()
        assert f"in use by process {first.pid} of root" in told
        first.communicate()
    _, told = claim(results, user=NOBODY).communicate()
    assert "cannot be written (Permission denied; " in told
    assert f"{results / '.workflow.lock'} belongs to root)" in told


def test_users_without_a_name_have_a_number(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    workspace.claim_workspace(tmp_path / "results")
    assert "of user 54321 on" in (tmp_path / "results" / ".workflow.lock").read_text()


def test_strange_files_among_snakemakes_marks_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    marks = tmp_path / ".snakemake" / "incomplete"
    marks.mkdir(parents=True)
    Path("made.csv").touch()
    for name in (".nfs0000000000012ab4", "ä", "AAAA", urlsafe_b64encode(b"made.csv").decode()):
        (marks / name).touch()
    assert in_doubt(Plan(), Path("results")) == {"made.csv"}


def test_a_full_disk_is_told_where_nothing_can_be_asked_about_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    told = scripting._of_machine(OSError(errno.ENOSPC, "No space left on device", "x.npy"))
    assert "No space left on device: 'x.npy'" in told
    assert "make space" in told


def test_an_error_without_a_number_is_the_disks_only_where_that_is_full(monkeypatch):
    monkeypatch.setattr(scripting, "SCARCE", 0)
    assert scripting._of_machine(OSError("timed out")) == "timed out"
    monkeypatch.setattr(scripting, "SCARCE", 1e30)
    assert "timed out; free: " in scripting._of_machine(OSError("timed out"))


def test_a_process_may_ask_again_for_what_it_has(tmp_path):
    workspace.claim_workspace(tmp_path / "results")
    told = (tmp_path / "results" / ".workflow.lock").read_text()
    workspace.claim_workspace(tmp_path / "results")
    assert (tmp_path / "results" / ".workflow.lock").read_text() == told
    _, refused = claim(tmp_path / "results").communicate()
    assert f"in use by process {os.getpid()} of" in refused
