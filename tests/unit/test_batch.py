"""Training jobs: which runs are trained together, and what is left of them when one fails or the process is ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from outagefl import fingerprint
from outagefl.engines import gossip
from outagefl.errors import DataError, TrainingError
from outagefl.runs import batch
from outagefl.runs.packs import setting
from outagefl.runs.plan import INPUTS, Plan, Run, batches, make_input, run_path
from outagefl.training import stacked
from outagefl.training.stacked import StackedTrainer

SPEC: dict[str, Any] = {
    "study": "sfg", "engine": "gossip", "seed": 0, "clients": 4, "rounds": 3, "order": "train_then_mix",
    "returning": "trains_and_mixes",
    "dataset": {"kind": "digits"},
    "partition": {"kind": "dirichlet", "alpha": 1.0, "test_images": 5},
    "topology": {"kind": "ring"},
    "availability": {"kind": "always"},
    "model": {"kind": "cnn", "channels": [2, 2], "hidden": [4]},
    "training": {"steps": 1, "batch_size": 4, "learning_rate": 0.1},
    "evaluation": {"every": 1},
    "rule": {"kind": "sfg", "gamma": 0.5},
}  # fmt: skip


def planned(root: Path, *changes: dict[str, Any]) -> dict[str, Run]:
    """Runs of the spec with changes, by path; their inputs are made."""
    runs = {}
    for change in changes:
        spec = {**SPEC, **change}
        inputs = {what: f"inputs/{what}-{spec['rounds']}{INPUTS[what].suffix}" for what in INPUTS if what in spec}
        for what, place in inputs.items():
            needs = {"dataset": root / inputs["dataset"]} if what == "partition" else {}
            if not (root / place).exists():
                make_input(what, spec, needs, root / place)
        run = Run(spec, inputs)
        runs[run_path(run)] = run
    return runs


def rule(gamma: float) -> dict[str, Any]:
    return {"rule": {"kind": "sfg", "gamma": gamma}}


DIVERGING = {"training": {**SPEC["training"], "learning_rate": 1e30}}


def metrics(root: Path, path: str) -> pd.DataFrame:
    return pd.read_parquet(root / path / "metrics.parquet")


@pytest.fixture
def _stacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU works as a GPU would."""
    monkeypatch.setitem(stacked.WAYS, "cpu", stacked.WAYS["cuda"])
    monkeypatch.setattr(gossip, "trainer_class", lambda *_, **__: StackedTrainer)


@pytest.mark.usefixtures("_stacked")
def test_a_pack_leaves_each_run_its_own_record(tmp_path: Path) -> None:
    runs = planned(tmp_path, rule(0.5), rule(1.0), {"rounds": 2})
    batch.train_pack(runs, tmp_path, "cpu")
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "inputs").symlink_to(tmp_path / "inputs")
    batch.train_missing(runs, alone, "cpu")
    for path, run in runs.items():
        records = [json.loads((root / path / "run.json").read_text()) for root in (tmp_path, alone)]
        assert [record["packed_runs"] for record in records] == [3, 1]
        assert records[0]["spec"] == run.spec
        assert records[0]["seconds"] > 0
        pd.testing.assert_frame_equal(metrics(tmp_path, path), metrics(alone, path), rtol=1e-4)
    assert not list(tmp_path.rglob(".tmp-*"))
    assert not list((tmp_path / ".locks").iterdir())


@pytest.mark.usefixtures("_stacked")
def test_runs_that_exist_are_not_trained_again(tmp_path: Path) -> None:
    runs = planned(tmp_path, rule(0.5), rule(1.0), rule(0.2))
    done, damaged, missing = runs
    batch.train(done, runs[done], tmp_path, "cpu")
    (tmp_path / damaged).mkdir()
    before = (tmp_path / done / "run.json").read_bytes()
    batch.train_pack(runs, tmp_path, "cpu")
    assert (tmp_path / done / "run.json").read_bytes() == before
    for path in (damaged, missing):
        assert json.loads((tmp_path / path / "run.json").read_text())["packed_runs"] == 2


@pytest.mark.usefixtures("_stacked")
def test_a_run_that_fails_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    runs = planned(tmp_path, DIVERGING, rule(1.0))
    fails, works = runs
    with pytest.raises(TrainingError, match=rf"^{fails}: client \d: the loss is not finite"):
        batch.train_pack(runs, tmp_path, "cpu")
    assert not (tmp_path / fails).exists()
    assert len(metrics(tmp_path, works))


@pytest.mark.usefixtures("_stacked")
def test_a_fault_of_the_program_is_raised_with_the_run_it_is_in(tmp_path: Path) -> None:
    runs = planned(tmp_path, rule(0.5), rule(1.0))
    works, fails = runs
    (tmp_path / "strange.npy").write_bytes(b"")
    runs[fails].inputs["strange"] = "strange.npy"
    moved = {works: runs[works], run_path(runs[fails]): runs[fails]}
    with pytest.raises(KeyError, match="strange") as raised:
        batch.train_pack(moved, tmp_path, "cpu")
    assert raised.value.__notes__ == [f"in {run_path(runs[fails])}"]
    assert len(metrics(tmp_path, works))


def test_other_code_gives_no_old_names(tmp_path: Path) -> None:
    runs = planned(tmp_path, rule(0.5))
    with pytest.raises(DataError, match="the code has changed"):
        batch.train_pack({"runs/sfg/older": next(iter(runs.values()))}, tmp_path, "cpu")


def test_on_a_cpu_runs_are_trained_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packs: list[int] = []
    monkeypatch.setattr(batch, "train_pack", lambda runs, *_: packs.append(len(runs)))
    runs = planned(tmp_path, rule(0.5), rule(1.0), {"training": {**SPEC["training"], "steps": 2}})
    batch.train_missing(runs, tmp_path, "cpu")
    assert packs == [1, 1, 1]
    monkeypatch.setattr(batch, "resolve", lambda _: stacked.torch.device("cuda"))
    batch.train_missing(runs, tmp_path, "cuda")
    assert packs[3:] == [2, 1]


def test_a_setting_is_all_but_method_seed_and_learning_rate() -> None:
    same = [{"seed": 3}, rule(1.0), {"rounds": 9}, DIVERGING]
    others: list[dict[str, Any]] = [
        {"model": {"kind": "cnn", "channels": [2], "hidden": [4]}},
        {"dataset": {"kind": "cifar10"}},
        {"training": {**SPEC["training"], "precision": "bf16"}},
    ]
    assert {setting({**SPEC, **change}) for change in same} == {setting(SPEC)}
    assert len({setting({**SPEC, **change}) for change in [{}, *others]}) == 4


def test_jobs_hold_runs_of_one_setting_where_they_can() -> None:
    wide = {"model": {"kind": "cnn", "channels": [4], "hidden": [4]}}
    specs = [{**SPEC, **model, "seed": seed} for seed in range(4) for model in ({}, wide)]
    plan = Plan(runs={f"runs/{number}": Run(spec, {"dataset": "d"}) for number, spec in enumerate(specs)})
    found = batches(plan, plan.runs, 3)
    assert [[int(path[5:]) for path in paths] for paths in found] == [[0, 2, 4], [6, 1, 3], [5, 7]]


SCRIPT = """
import signal, sys
from pathlib import Path
from outagefl.engines import gossip
from outagefl.runs import batch
from outagefl.runs.plan import Run
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from outagefl.training.stacked import StackedTrainer
import json
gossip.trainer_class = lambda *_, **__: StackedTrainer
root = Path(sys.argv[1])
batch.train_pack({path: Run(**run) for path, run in json.loads((root / "job").read_text()).items()}, root, "cpu")
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def test_a_process_that_is_ended_keeps_what_was_finished(tmp_path: Path, sent: signal.Signals) -> None:
    """A pack of a short and an endless run: ended in the middle of the latter."""
    runs = planned(tmp_path, {"rounds": 2}, {"rounds": 20_000})
    short, endless = runs
    (tmp_path / "job").write_text(json.dumps({path: vars(run) for path, run in runs.items()}))
    environment = {**os.environ, "PYTHONPATH": str(fingerprint.PACKAGE.parent)}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], env=environment, stderr=subprocess.PIPE
    ) as work:
        end = time.monotonic() + 60
        while not (tmp_path / short).exists():
            assert work.poll() is None, work.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.05)
        work.send_signal(sent)
        assert work.wait(timeout=300) != 0
    assert len(metrics(tmp_path, short))
    assert not (tmp_path / endless).exists()
    again = planned(tmp_path, {"rounds": 2})
    batch.train_missing(again, tmp_path, "cpu")  # no lock is left
