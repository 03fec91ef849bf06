"""Files appear complete or not at all; locks end with their holders."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest

from outagefl.files import appeared, locked, replacing
from outagefl.workspace import claim_workspace


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), replacing(target) as new:  # noqa: PT012
        new.write_text("ne")
        raise RuntimeError
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_folder_appears_whole_and_an_existing_one_wins(tmp_path):
    for content in ("first", "second"):
        with replacing(tmp_path / "runs" / "folder") as new:
            new.mkdir()
            (new / "x").write_text(content)
    assert (tmp_path / "runs" / "folder" / "x").read_text() == "first"
    assert os.listdir(tmp_path / "runs") == ["folder"]


def hold(lock, seconds):
    code = (
        "import time; from outagefl.files import locked\n"
        f"with locked({str(lock)!r}): print('held', flush=True); time.sleep({seconds})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": "workflow"}, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_is_exclusive_and_ends_with_a_killed_holder(tmp_path):
    lock = tmp_path / "x.lock"
    holder = hold(lock, 60)
    with pytest.raises(BlockingIOError), locked(lock, wait=False):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with locked(lock, wait=False):
        assert lock.exists()
    assert not lock.exists()


def test_a_waiting_process_gets_the_lock_when_the_holder_is_done(tmp_path):
    lock = tmp_path / "x.lock"
    holder = hold(lock, 0.5)
    start = time.monotonic()
    with locked(lock):
        assert holder.wait(5) == 0
    assert time.monotonic() - start < 30


def test_where_there_are_no_locks_work_goes_on_with_a_note(tmp_path, monkeypatch, capsys):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / "x.lock"), locked(tmp_path / "x.lock"):
        pass
    claim_workspace(tmp_path / "results")
    [note] = capsys.readouterr().err.splitlines()
    assert note.startswith("outagefl: note:")
    assert "no locks" in note


def test_a_file_is_waited_for_as_long_as_asked(tmp_path, monkeypatch):
    late = tmp_path / "folder" / "late"
    assert not appeared(late)
    monkeypatch.setenv("OUTAGEFL_LATENCY_WAIT", "30")
    subprocess.Popen(["sh", "-c", f"sleep 0.3; mkdir {late.parent}; touch {late}"])
    assert appeared(late)
