"""Checkpoints: which files are not used, when one is written, and jobs that are asked to end."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from outagefl import fingerprint
from outagefl.engines.gossip import GossipState, start
from outagefl.runs import batch, checkpoint_file, interrupts
from outagefl.runs.checkpoint_file import UnusableError, read, write
from outagefl.runs.checkpoints import RunCheckpoint
from outagefl.runs.interrupts import Interrupted
from outagefl.runs.plan import Run
from outagefl.runs.plan import checkpoint_file as file_of
from tests.unit.test_batch import planned, rule

KEY = {"torch": "2", "spec": {"seed": 1, "rule": {"kind": "sfg"}}, "code": {"outagefl.engines.gossip": "ab"}}


def state(round_number: int = 3) -> GossipState:
    made = start(torch.arange(5.0), 4, 6)
    made.round = round_number
    return made


def checkpoint(folder: Path, key: Any = KEY, minutes: float = 0, **options: Any) -> RunCheckpoint:
    return RunCheckpoint(folder / "sfg-s0.pt", key, 6, minutes, **options)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Say that a signal came."""
    return lambda name: monkeypatch.setattr(interrupts._process, "asked", name)


def keep(folder: Path, round_number: int = 3) -> Path:
    """A checkpoint, as it is written on request."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interrupts._process, "asked", "SIGTERM")
        with pytest.raises(Interrupted):
            checkpoint(folder).offer(round_number, state(round_number))
    return folder / "sfg-s0.pt"


def resumed(folder: Path, caplog: pytest.LogCaptureFixture, key: Any = KEY) -> tuple[Any, str]:
    caplog.clear()
    with caplog.at_level(logging.INFO):
        return checkpoint(folder, key).resume(GossipState), caplog.text


def test_what_is_kept_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keep(tmp_path)
    assert os.listdir(tmp_path) == ["sfg-s0.pt"]
    found, told = resumed(tmp_path, caplog)
    assert "sfg-s0 goes on from round 3/6" in told
    for name, value in vars(state()).items():
        require_same(getattr(found, name), value)


def test_a_state_from_before_the_first_evaluation_is_one_to_go_on_from(
    tmp_path: Path, asked: Callable[[str], None]
) -> None:
    one = checkpoint(tmp_path)
    asked("SIGTERM")
    with pytest.raises(Interrupted, match="sfg-s0 starts again"):
        one.resume(GossipState)
    for leaves in (lambda: one.offer(0, state(0)), lambda: checkpoint(tmp_path).resume(GossipState)):
        with pytest.raises(Interrupted, match="sfg-s0 goes on from round 0/6"):
            leaves()


def test_strides_and_shared_memory_come_back(tmp_path: Path) -> None:
    rows = torch.arange(40.0).view(4, 10)
    kept = [rows[1], rows[:, :7], rows, np.asfortranarray(np.eye(3)), np.array([True]), [(1, 0.5)], {2: "a"}]
    write(tmp_path / "a", {}, kept)
    _, found = read(tmp_path / "a", lambda header: None, [])
    require_same(found[:5], kept[:5])
    assert found[5:] == kept[5:]
    assert found[3].flags.f_contiguous
    found[2][1, 0] = -1
    assert found[0][0] == found[1][1, 0] == -1


def require_same(found: object, kept: Any) -> None:
    assert type(found) is type(kept)
    torch.testing.assert_close(found, kept, rtol=0, atol=0, equal_nan=True, check_stride=True)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text", "longer"])
def test_a_damaged_file_is_told_and_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    whole = keep(tmp_path).read_bytes()
    places = range(0, len(whole), 37)
    damaged = {
        "cut": [whole[:place] for place in places],
        "flip": [whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :] for place in places],
        "empty": [b""],
        "text": [b"{}\n"],
        "longer": [whole + b"\0"],
    }
    for number, content in enumerate(damaged[damage]):
        (tmp_path / "sfg-s0.pt").write_bytes(content)
        found, told = resumed(tmp_path, caplog)
        assert found is None, number
        assert "sfg-s0.pt: damaged or cut short; not used, training starts again" in told


def test_a_folder_in_its_place_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "sfg-s0.pt" / "x").mkdir(parents=True)
    found, told = resumed(tmp_path, caplog)
    assert found is None
    assert "Is a directory" in told
    checkpoint(tmp_path, minutes=1e-9).offer(1, state())
    assert "no checkpoint after round 1" in caplog.text
    runs = planned(tmp_path, {})
    [path] = runs
    (file_of(tmp_path, path) / "x").mkdir(parents=True)
    for _ in ("is trained", "exists"):
        caplog.clear()
        batch.train_missing(runs, tmp_path, "cpu")
        assert (tmp_path / path / "run.json").is_file()
        assert f"{path.split('/')[-1]}.pt: not removed, though its run is finished" in caplog.text


def test_one_that_was_left_beside_a_finished_run_is_removed(tmp_path: Path) -> None:
    runs = planned(tmp_path, {})
    [path] = runs
    batch.train_missing(runs, tmp_path, "cpu")
    file = file_of(tmp_path, path)
    file.parent.mkdir(parents=True)
    file.touch()
    batch.train_missing(runs, tmp_path, "cpu")
    assert not file.exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"torch": "3"}, "made with torch 2 instead of 3"),
        ({"spec": {"seed": 2, "rule": {"kind": "sfg"}}}, "made with spec.seed 1 instead of 2"),
        ({"code": {"outagefl.engines.gossip": "cd"}}, "made with code.outagefl.engines.gossip ab instead of cd"),
        ({"code": {}, "device": "cpu", "torch": "3", "spec": {}}, " and 2 more"),
    ],
)
def test_one_of_another_run_is_told_and_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: dict[str, Any], told: str
) -> None:
    file = keep(tmp_path)
    found, warning = resumed(tmp_path, caplog, KEY | change)
    assert found is None
    assert f"{file}: made with" in warning
    assert told in warning


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/outagefl-was-here",)


def test_reading_executes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    header = {"key": KEY, "round": 1, "seconds": 0, "resumed_from": []}
    write(tmp_path / "sfg-s0.pt", header, [Evil()])
    found, told = resumed(tmp_path, caplog)
    assert found is None
    assert "not a checkpoint" in told
    write(tmp_path / "a", {}, state())
    with pytest.raises(UnusableError):  # a class that is not named
        read(tmp_path / "a", lambda header: None, [])
    (tmp_path / "b").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(UnusableError):
        read(tmp_path / "b", lambda header: None, [])
    assert not Path("/tmp/outagefl-was-here").exists()


def test_one_is_written_when_its_time_has_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the interval, or so long after the last that writing takes a small share of the time."""
    now, took = 0.0, 0.0
    rounds: list[int] = []

    def note(file: Path, header: dict[str, Any], state: object) -> int:
        nonlocal now
        now += took
        rounds.append(header["round"])
        return 0

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr("outagefl.runs.checkpoints.write", note)
    one, never = checkpoint(tmp_path, minutes=1), checkpoint(tmp_path, minutes=0)
    for at, takes in ((59, 0), (60, 1), (120, 1), (121, 10), (330, 0), (331, 0)):
        now, took = at, takes
        for each in (one, never):
            each.offer(at, state())
    assert rounds == [60, 121, 331]


def test_a_full_disk_ends_no_training_and_the_older_one_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, asked: Callable[[str], None]
) -> None:
    keep(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_file.os, "fsync", full)
        one = checkpoint(tmp_path, minutes=1e-9)
        one.resume(GossipState)
        one.offer(4, state(4))
        assert "no checkpoint after round 4: [Errno 28] No space left on device" in caplog.text
        asked("SIGTERM")
        with pytest.raises(Interrupted, match="sfg-s0 goes on from round 3/6 at the next start"):
            one.offer(5, state(5))
        asked("")
    assert os.listdir(tmp_path) == ["sfg-s0.pt"]
    assert resumed(tmp_path, caplog)[0].round == 3


def test_torch_tells_a_full_disk_as_well(tmp_path: Path) -> None:
    """Of a process of its own, which may write no more than a few bytes to a file."""
    script = (
        "import resource, signal, sys, torch; from pathlib import Path\n"
        "from outagefl.runs.checkpoint_file import write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (99_999, 99_999))\n"
        "try: write(Path(sys.argv[1]) / 'a', {}, torch.zeros(1_000_000))\n"
        "except OSError as error: print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(fingerprint.PACKAGE.parent)}
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert os.listdir(tmp_path) == []


class Unfit:
    def __reduce__(self) -> Any:
        raise RuntimeError("a fault of the program")


def test_a_fault_of_the_program_is_no_full_disk(tmp_path: Path) -> None:
    file = keep(tmp_path)
    before = file.read_bytes()
    with pytest.raises(RuntimeError, match="a fault of the program"):
        checkpoint(tmp_path, minutes=1e-9).offer(4, [torch.zeros(1000), Unfit()])
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == [file.name]


SCRIPT = """
import json, sys, time
from pathlib import Path
from outagefl.runs.interrupts import deferred, listen
from outagefl.scripting import logged
with logged(sys.argv[2]):
    listen()
    if sys.argv[3] == "reading":
        print("ready", flush=True)
        time.sleep(60)
    if sys.argv[3] == "training":
        with deferred():
            print("ready", flush=True)
            time.sleep(60)
    from outagefl.engines import gossip
    from outagefl.runs import batch
    from outagefl.runs.plan import Run
    from outagefl.training import stacked
    stacked.WAYS["cpu"] = stacked.WAYS["cuda"]
    gossip.trainer_class = lambda *_, **__: stacked.StackedTrainer
    root = Path(sys.argv[1])
    batch.train_pack({path: Run(**run) for path, run in json.loads((root / "job").read_text()).items()}, root, "cpu")
"""


def begin(root: Path, what: str) -> subprocess.Popen[bytes]:
    """A job in a process of its own; waits until it is at work."""
    environment = {**os.environ, "PYTHONPATH": str(fingerprint.PACKAGE.parent)}
    log = root / "log"
    work = subprocess.Popen([sys.executable, "-c", SCRIPT, str(root), str(log), what], env=environment)
    end = time.monotonic() + 60
    while not (log.exists() and ("ready" in log.read_text() or log.read_text().count("accuracy") >= 2)):
        assert work.poll() is None, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
    return work


def test_a_job_that_is_asked_to_end_keeps_every_run_of_its_pack(tmp_path: Path) -> None:
    runs = planned(tmp_path, {"rounds": 20_000}, {"rounds": 20_000, **rule(1.0)})
    (tmp_path / "job").write_text(json.dumps({path: vars(run) for path, run in runs.items()}))
    with begin(tmp_path, "pack") as work:
        work.send_signal(signal.SIGTERM)
        assert work.wait(timeout=300) == os.EX_TEMPFAIL
    told = (tmp_path / "log").read_text().splitlines()[-1]
    assert told.startswith("outagefl: interrupted by SIGTERM; ")
    assert told.count("goes on from round") == 2
    assert all(file_of(tmp_path, path).is_file() for path in runs)
    assert not list(tmp_path.rglob(".tmp-*"))


@pytest.mark.parametrize("sent", interrupts.SIGNALS, ids=lambda sent: sent.name)
def test_a_signal_ends_a_job_at_once_before_training(tmp_path: Path, sent: signal.Signals) -> None:
    with begin(tmp_path, "reading") as work:
        work.send_signal(sent)
        assert work.wait(timeout=300) == os.EX_TEMPFAIL
    assert (tmp_path / "log").read_text() == f"ready\noutagefl: interrupted by {sent.name}; the next start goes on\n"


@pytest.mark.parametrize("times", [{signal.SIGINT: 1}, {signal.SIGTERM: 2}, {signal.SIGUSR1: 2}], ids=str)
def test_while_it_trains_only_ctrl_c_after_a_signal_ends_a_job_at_once(
    tmp_path: Path, times: dict[signal.Signals, int]
) -> None:
    with begin(tmp_path, "training") as work:
        for sent in [sent for sent, count in times.items() for _ in range(count)]:
            work.send_signal(sent)
            with pytest.raises(subprocess.TimeoutExpired):
                work.wait(0.3)
        work.send_signal(signal.SIGINT)
        assert work.wait(timeout=300) == -signal.SIGINT
    assert (tmp_path / "log").read_text() == "ready\n"


def ask_in_round(monkeypatch: pytest.MonkeyPatch, round_number: int) -> None:
    """Ask this process to end once a run has come to a round."""
    offer = RunCheckpoint.offer

    def asks(self: RunCheckpoint, number: int, state: object) -> None:
        interrupts._process.asked = "SIGTERM" if number == round_number else ""
        offer(self, number, state)

    monkeypatch.setattr(RunCheckpoint, "offer", asks)
    monkeypatch.setattr(interrupts._process, "asked", "")


def test_a_run_goes_on_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    runs: dict[str, Run] = planned(tmp_path, {"rounds": 6})
    [path] = runs
    for round_number in (2, 5):
        with pytest.MonkeyPatch.context() as patch:
            ask_in_round(patch, round_number)
            with pytest.raises(Interrupted, match=f"goes on from round {round_number}/6"):
                batch.train_missing(runs, tmp_path, "cpu")
    assert not (tmp_path / path).exists()
    batch.train_missing(runs, tmp_path, "cpu")
    record = json.loads((tmp_path / path / "run.json").read_text())
    assert record["resumed_from"] == [2, 5]
    assert record["seconds_before"] > 0
    assert not file_of(tmp_path, path).exists()
    found = pd.read_parquet(tmp_path / path / "metrics.parquet")
    (tmp_path / path).rename(tmp_path / "before")
    batch.train_missing(runs, tmp_path, "cpu")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / path / "metrics.parquet"), found, check_exact=True)
    assert json.loads((tmp_path / path / "run.json").read_text())["resumed_from"] == []
