"""SVHN from tiny MATLAB files, and what is wrong with others."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy.io import loadmat, savemat

from outagefl.datasets import svhn
from outagefl.errors import DataError
from outagefl.sources import mat as matlab
from tests.unit import archives
from tests.unit.archives import noise, pack, prepared

STREET = {"train": noise(12, 32, 32, 3, seed=5), "test": noise(3, 32, 32, 3, seed=6)}
DIGITS = {"train": [1, 9, 10, 2, 10, 3, 4, 5, 6, 7, 8, 1], "test": [10, 1, 5]}


def mat(part: str, *, compressed: bool = True, **changes: Any) -> bytes:
    content = {"X": STREET[part].transpose(1, 2, 3, 0), "y": np.uint8(DIGITS[part])[:, np.newaxis]} | changes
    buffer = io.BytesIO()
    savemat(buffer, content, do_compression=compressed)
    return buffer.getvalue()


def svhn_files(**changes: bytes) -> dict[str, bytes]:
    return {f"{part}_32x32.mat": changes.get(part, mat(part)) for part in STREET}


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("compressed", [True, False])
def test_svhn_is_read_and_label_10_is_the_digit_0(tmp_path, form, compressed):
    files = svhn_files(train=mat("train", compressed=compressed))
    data = prepared("svhn", pack(tmp_path / "a", form, files), tmp_path / "p")
    assert_array_equal(data.x_train, STREET["train"])
    assert_array_equal(data.x_test, STREET["test"])
    assert data.x_train.flags.c_contiguous
    assert [data.classes[label] for label in data.y_train] == list("190203456781")
    assert data.y_test.tolist() == [0, 1, 5]


def promising(images: int) -> bytes:
    """A file whose header says that X has so many images."""
    shape = struct.pack("<iii", 32, 32, 3)
    content = mat("test", compressed=False)
    return content.replace(shape + struct.pack("<i", 3), shape + struct.pack("<i", images))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            svhn_files(train=mat("train", y=np.uint8([0] * 12)[:, None])),
            "train_32x32.mat: X .*y holds 0 labels .* 12 other",
        ),
        (
            svhn_files(train=mat("train", y=np.uint8([11] * 12)[:, None])),
            "train_32x32.mat: X .*y holds 0 labels .* 12 other",
        ),
        (svhn_files(train=mat("train", y=np.full((12, 1), 1.5))), "train_32x32.mat: X .*y holds 0 labels .* 12 other"),
        (svhn_files(train=mat("train", y=np.uint8([1] * 11)[:, None])), "train_32x32.mat: X .*y holds 11 labels"),
        (svhn_files(train=mat("train", y={"a": 1})), "train_32x32.mat: .*y is no array of numbers"),
        (svhn_files(train=mat("train", y="123456789012")), "train_32x32.mat: .*y is no array of numbers"),
        (svhn_files(train=mat("train", X=noise(32, 32, 1, 12))), r"train_32x32.mat: X is uint8 \(32, 32, 1, 12\)"),
        (svhn_files(train=mat("train", X=noise(32, 32, 3))), r"train_32x32.mat: X is uint8 \(32, 32, 3\)"),
        (svhn_files(train=mat("train", X=noise(32, 32, 3, 12) / 255)), "train_32x32.mat: X is float64"),
        (
            svhn_files(train=mat("train", X=noise(32, 32, 3, 0), y=np.zeros((0, 0)))),
            "train_32x32.mat: |holds no training",
        ),
        (svhn_files(train=mat("train", y=np.zeros((0, 0)))), "train_32x32.mat: X .*y holds 0 labels"),
        (svhn_files(train=mat("train")[:-40]), "train_32x32.mat: damaged or not a MATLAB file: an element of"),
        (
            svhn_files(test=mat("test", compressed=False)[:-40]),
            "test_32x32.mat: damaged or not a MATLAB file: an element",
        ),
        (svhn_files(test=b"no MATLAB"), "test_32x32.mat: .* not a little-endian MATLAB file of version 5"),
        (svhn_files(test=promising(2**31 - 1)), "test_32x32.mat: .*X is said to be uint8 .* but has 9216 bytes"),
        (svhn_files(test=promising(-3)), "test_32x32.mat: .*X is said to be uint8 .* but has 9216 bytes"),
        (
            {"train_32x32.mat": mat("train"), "test_32x32.mat": mat("test")[:128]},
            "test_32x32.mat: lacks the array X, y",
        ),
        ({"train_32x32.mat": mat("train")}, "lacks test_32x32.mat$"),
        ({"housenumbers.mat": b""}, "holds neither train_32x32.mat and test_32x32.mat nor"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_an_unfit_svhn_is_refused(tmp_path, files, message):
    archives.refused(svhn.prepare, pack(tmp_path / "a", "folder", files), message)


def test_a_matlab_bomb_is_refused():
    zeros = mat("test", X=np.zeros((32, 32, 3, 6000), np.uint8))
    assert len(zeros) < 100_000
    with pytest.raises(DataError, match=r"x: .* it unpacks to far more than its size$"):
        matlab.load(zeros, "x", ("X", "y"))


def test_many_matrices_that_unpack_together_to_too_much_are_refused():
    content = {f"a{n}": np.zeros(4 << 20, np.uint8) for n in range(3)} | {"wanted": np.zeros(1)}
    buffer = io.BytesIO()
    savemat(buffer, content, do_compression=True)
    assert matlab.load(buffer.getvalue(), "x", ["wanted"])["wanted"].size == 1
    savemat(buffer, content | {"a3": np.zeros(4 << 20, np.uint8)}, do_compression=True)
    with pytest.raises(DataError, match=r"x: .* it unpacks to far more than its size$"):
        matlab.load(buffer.getvalue(), "x", ["wanted"])


@given(
    array=hnp.arrays(
        st.sampled_from(["u1", "i1", "u2", "<i4", "<i8", "<f4", "<f8"]),
        hnp.array_shapes(min_dims=2, max_dims=4, max_side=5),
    ),
    compressed=st.booleans(),
)
def test_matlab_files_are_read_as_scipy_reads_them(array, compressed):
    buffer = io.BytesIO()
    savemat(
        buffer, {"other": "text", "wanted": array, "z": {"a": 1}, "none": np.zeros((0, 0))}, do_compression=compressed
    )
    found = matlab.load(buffer.getvalue(), "x", ["wanted"])
    assert_array_equal(found["wanted"], loadmat(buffer)["wanted"])
    assert found["wanted"].dtype == array.dtype
