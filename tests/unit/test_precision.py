"""Float32, TF32 and bfloat16: what each of them touches and what it leaves alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from outagefl.config import check
from outagefl.datasets.arrays import ImageData
from outagefl.errors import ConfigError
from outagefl.inputs.partitions import Partition
from outagefl.training import stacked
from outagefl.training.convolutions import KINDS, convolving
from outagefl.training.initial import initial_model
from outagefl.training.local_trainer import LocalTrainer
from outagefl.training.options import TrainingOptions
from outagefl.training.precision import forward, products, set_tf32, warn_without_gain
from outagefl.training.stacked import StackedTrainer

CPU, CLIENTS = torch.device("cpu"), 3
CNN = {"kind": "cnn", "channels": [4], "hidden": [8], "dropout": 0.2}
RESIDUAL = {"kind": "residual_cnn", "channels": [4, 4], "hidden": [8]}
MLP = {"kind": "mlp", "hidden": [16], "dropout": 0.2}


@pytest.fixture(autouse=True)
def _switches() -> Iterator[None]:
    """Torch's own switches, put back afterwards."""
    torch.set_num_threads(1)
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    yield
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def switches() -> tuple[bool, bool]:
    return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32


def trainer(kind: type[LocalTrainer], model: dict[str, Any], **options: Any) -> LocalTrainer:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (90, 8, 8, 2), dtype=np.uint8), rng.integers(0, 3, 90)
    data = ImageData(x, y, x, y, ("a", "b", "c"), (0.5, 0.4), (0.3, 0.2), "")
    parts = tuple(np.arange(90).reshape(CLIENTS, -1))
    settings = {"steps": 3, "batch_size": 8, "learning_rate": 0.05} | options
    return kind(initial_model(model, (8, 8, 2), 3, 0), data, Partition(parts, parts), 0, CPU, **settings)


def trained(kind: type[LocalTrainer], model: dict[str, Any], **options: Any) -> Tensor:
    work = trainer(kind, model, **options)
    rows, clients = work.model.row().repeat(CLIENTS, 1), np.arange(CLIENTS)
    for done in range(2):
        work.train(list(rows), clients, done + 1, np.full(CLIENTS, done))
    return rows


@pytest.mark.parametrize("kind", [LocalTrainer, StackedTrainer])
@pytest.mark.parametrize("model", [CNN, RESIDUAL, MLP], ids=lambda model: model["kind"])
def test_bfloat16_learns_about_the_same_with_float32_models(kind: type[LocalTrainer], model: dict[str, Any]) -> None:
    """Two rounds in which rows change in place: weights converted once and for all would be left where they were."""
    start = trainer(kind, model).model.row()
    full, rough = (trained(kind, model, precision=precision) - start for precision in ("float32", "bf16"))
    assert rough.dtype == torch.float32
    assert not torch.equal(rough, full)
    assert (rough - full).norm() < 0.2 * full.norm()


@pytest.mark.parametrize("convolution", KINDS)
@pytest.mark.parametrize("model", [CNN, RESIDUAL, MLP], ids=lambda model: model["kind"])
def test_bfloat16_stacked_is_bfloat16_one_by_one(
    model: dict[str, Any], convolution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as its 8 bits go: the order of sums differs. Played on the CPU as on a GPU."""
    monkeypatch.setitem(stacked.WAYS, "cpu", replace(stacked.WAYS["cuda"], convolution=convolution))
    start = trainer(LocalTrainer, model).model.row()
    alone, together = (trained(kind, model, precision="bf16") - start for kind in (LocalTrainer, StackedTrainer))
    assert (alone - together).norm() < 0.2 * alone.norm()


@pytest.mark.parametrize("convolution", KINDS)
def test_convolutions_of_a_stack_are_bfloat16(convolution: str) -> None:
    images, kernels = torch.randn(2, 3, 1, 5, 5), torch.randn(2, 4, 1, 3, 3)
    with forward("bf16", CPU), convolving(convolution, "bf16"):
        assert torch.func.vmap(torch.conv2d)(images, kernels).dtype == torch.bfloat16
    with forward("float32", CPU), convolving(convolution, "float32"):
        assert torch.func.vmap(torch.conv2d)(images, kernels).dtype == torch.float32


def test_models_are_measured_in_float32() -> None:
    full, rough = (trainer(LocalTrainer, CNN, precision=precision) for precision in ("float32", "bf16"))
    row, data = full.model.row(), full.data
    assert torch.equal(rough.measure(row, data.x_test, data.y_test), full.measure(row, data.x_test, data.y_test))


@pytest.mark.parametrize("kind", [LocalTrainer, StackedTrainer])
@pytest.mark.parametrize("precision", ["float32", "tf32"])
@pytest.mark.parametrize("before", [False, True])
def test_tf32_is_on_in_training_steps_of_that_precision_alone(
    kind: type[LocalTrainer], precision: str, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_tf32(before)
    work, seen = trainer(kind, RESIDUAL, precision=precision), []
    work.model.module.register_forward_hook(lambda *_: seen.append(switches()))
    work.train([work.model.row()], np.array([0]), 1, np.array([0]))
    assert {*seen} == {(precision == "tf32",) * 2}
    assert switches() == (before, before)
    seen.clear()
    work.measure(work.model.row(), work.data.x_test, work.data.y_test)
    assert {*seen} == {(before, before)}


def test_switches_are_put_back_after_an_error() -> None:
    set_tf32(False)
    with pytest.raises(ZeroDivisionError), products("tf32"):
        _ = 1 / 0
    assert switches() == (False, False)


@pytest.mark.parametrize(("has_bf16", "told"), [(False, ["tf32", "bf16"]), (True, ["tf32"])])
def test_a_precision_without_gain_is_told_once(
    has_bf16: bool, told: list[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_bf16)
    warn_without_gain.cache_clear()
    with caplog.at_level(logging.WARNING):
        for precision in ("float32", "tf32", "bf16", "tf32", "bf16"):
            warn_without_gain(precision, CPU)
        warn_without_gain("tf32", torch.device("cuda"))
    assert [record.getMessage().split()[1] for record in caplog.records] == told


def test_unknown_precisions_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"training\.precision: unknown precision 'fp16'.*\(valid: bf16, float32, tf32"
    ):
        TrainingOptions(1, 1, 0.1, precision="fp16")
    with pytest.raises(ConfigError, match=r"training\.precision: unknown value 'fp16'"):
        check({"training": {"precision": "fp16"}}, "run", "here", partial=True)
