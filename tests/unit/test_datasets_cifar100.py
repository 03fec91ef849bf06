"""CIFAR-100 from tiny archives in their true formats, and what is wrong with others."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from outagefl.datasets import cifar100
from tests.unit import archives
from tests.unit.archives import Malicious, noise, npz_at, pack, prepared, python2_pickle

CIFAR100 = {"train": noise(4, 32, 32, 3), "test": noise(2, 32, 32, 3, seed=1)}
FINE = {"train": [0, 99, 50, 7], "test": [3, 98]}


def cifar100_batch(part: str, **changes: Any) -> bytes:
    planes = CIFAR100[part].transpose(0, 3, 1, 2).reshape(-1, 3072)
    batch = {
        "filenames": [f"{n}.png" for n in range(len(planes))],
        "batch_label": f"{part}ing batch 1 of 1",
        "fine_labels": FINE[part],
        "coarse_labels": [0] * len(planes),
        "data": planes,
    }
    return python2_pickle(batch | changes)


def cifar100_archive(**changes: bytes) -> dict[str, bytes]:
    meta = {"fine_label_names": list(cifar100.CLASSES), "coarse_label_names": ["fish"]}
    contents = {part: cifar100_batch(part) for part in FINE} | {"meta": python2_pickle(meta)} | changes
    return {f"cifar-100-python/{name}": content for name, content in contents.items()}


@pytest.mark.parametrize("form", ["tar.gz", "folder"])
def test_cifar100_has_the_fine_labels(tmp_path, form):
    data = prepared("cifar100", pack(tmp_path / "a", form, cifar100_archive()), tmp_path / "p")
    assert_array_equal(data.x_train, CIFAR100["train"])
    assert_array_equal(data.x_test, CIFAR100["test"])
    assert data.y_train.tolist() == FINE["train"]
    assert data.y_test.tolist() == FINE["test"]
    assert data.classes == cifar100.CLASSES
    assert data.note == "not the whole data set: 4 training and 2 test images"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            cifar100_archive(train=cifar100_batch("train", fine_labels=[0, 1, 2, 100])),
            "train: not a CIFAR-100 batch; .* 99$",
        ),
        (cifar100_archive(train=cifar100_batch("train", fine_labels=[0])), "train: not a CIFAR-100 batch"),
        (
            cifar100_archive(test=pickle.dumps(Malicious(os.system, "true"), 2)),
            "test: .*asks for .*system, which is ref",
        ),
        (cifar100_archive(test=cifar100_batch("test")[:-100]), "test: not a pickle"),
        ({k: v for k, v in cifar100_archive().items() if not k.endswith("/test")}, "lacks test$"),
        (
            {"notes.txt": b""},
            "holds neither the pickled batches train, test nor .*<n>.png or .jpg nor x_train, y_train",
        ),
    ],
)
def test_an_unfit_cifar100_is_refused(tmp_path, members, message):
    archives.refused(cifar100.prepare, pack(tmp_path / "a", "tar.gz", members), message)


def both_parts(**changes: Any) -> dict[str, Any]:
    content = {"x_train": CIFAR100["train"], "y_train": np.uint8(FINE["train"])}
    content |= {"x_test": CIFAR100["test"], "y_test": np.uint8(FINE["test"])}
    return content | {"classes": np.array(cifar100.CLASSES), "f_train": np.zeros(0)} | changes


def test_cifar100_is_read_from_arrays(tmp_path):
    data = prepared("cifar100", npz_at(tmp_path / "a.npz", **both_parts()), tmp_path / "p")
    assert_array_equal(data.x_train, CIFAR100["train"])
    assert data.y_test.tolist() == FINE["test"]
    assert data.y_test.dtype == np.int64


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": np.array(cifar100.CLASSES[::-1])}, "its classes are not those of CIFAR-100"),
        ({"x_train": CIFAR100["train"] / 255}, r"images float64 \(4, 32, 32, 3\) .* expected uint8"),
        ({"x_train": CIFAR100["train"][:, :28]}, r"training images of shape \(28, 32, 3\), expected \(32, 32, 3\)"),
        ({"x_test": CIFAR100["test"][..., 0]}, r"test images of shape \(32, 32, 1\), expected \(32, 32, 3\)"),
        ({"y_train": np.uint8([0, 1, 2, 100])}, "training labels from 0 to 100, expected 0 to 99"),
        ({"y_train": np.int8([0, 1, -2, 9])}, "training labels from -2 to 9, expected 0 to 99"),
        ({"y_train": np.uint64([0, 1, 2**64 - 1, 9])}, "training labels from -1 to 9, expected 0 to 99"),
        ({"y_train": np.float32([0, 1, 2, 3])}, "with labels float32"),
        ({"y_test": np.uint8([1])}, r"with labels uint8 \(1,\)"),
        ({"x_test": CIFAR100["test"][:0], "y_test": np.uint8([])}, "holds no test images"),
        ({"y_test": np.array([{}, {}])}, "y_test.npy: .*Python objects, which are refused"),
    ],
)
def test_unfit_arrays_are_refused(tmp_path, changes, message):
    archives.refused(cifar100.prepare, npz_at(tmp_path / "a.npz", **both_parts(**changes)), message)


def test_a_missing_array_is_named(tmp_path):
    content = both_parts()
    content.pop("y_test")
    archives.refused(cifar100.prepare, npz_at(tmp_path / "a.npz", **content), "lacks y_test.npy$")


def test_the_cifar100_subset(shared, tmp_path):
    data = prepared("cifar100", shared / "data" / "cifar100_subset.npz", tmp_path / "p")
    assert_array_equal(np.bincount(data.y_train), [100] * 100)
    assert_array_equal(np.bincount(data.y_test), [20] * 100)
    assert_allclose(data.mean, (0.5071, 0.4865, 0.4409), atol=0.005)  # the published ones of the whole data set
    assert_allclose(data.std, (0.2673, 0.2564, 0.2762), atol=0.005)
