"""EMNIST from tiny archives in their true formats, and what is wrong with others."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from torchvision.datasets import EMNIST

from outagefl.datasets import emnist
from outagefl.errors import DataError
from tests.unit import archives
from tests.unit.archives import noise, npz_at, pack, prepared

UPRIGHT = {"train": noise(5, 28, 28, seed=2), "test": noise(3, 28, 28, seed=3)}
CHARACTERS = {"train": [0, 46, 10, 36, 1], "test": [45, 9, 35]}  # 0, t, A, a, 1; r, 9, Z


def idx_gz(array: np.ndarray) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes())


def emnist_archive(**changes: bytes) -> dict[str, bytes]:
    """The official zip: all splits below gzip/, images transposed; ``changes`` by e.g. ``train_labels``."""
    members = {"gzip/emnist-balanced-mapping.txt": b"0 48\n", "gzip/emnist-letters-train-labels-idx1-ubyte.gz": b"?"}
    for part in ("train", "test"):
        images = idx_gz(np.ascontiguousarray(UPRIGHT[part].transpose(0, 2, 1)))
        labels = idx_gz(np.uint8(CHARACTERS[part]))
        members[f"gzip/emnist-balanced-{part}-images-idx3-ubyte.gz"] = changes.get(f"{part}_images", images)
        members[f"gzip/emnist-balanced-{part}-labels-idx1-ubyte.gz"] = changes.get(f"{part}_labels", labels)
    return members


def unpacked(members: dict[str, bytes]) -> dict[str, bytes]:
    """What torchvision leaves on disk: the files without their compression."""
    balanced = {name: content for name, content in members.items() if "balanced" in name and name.endswith(".gz")}
    return {name.removesuffix(".gz"): gzip.decompress(content) for name, content in balanced.items()}


@pytest.mark.parametrize("form", ["zip", "folder", "unpacked folder"])
def test_emnist_is_stored_upright(tmp_path, form):
    members = unpacked(emnist_archive()) if form == "unpacked folder" else emnist_archive()
    data = prepared("emnist", pack(tmp_path / "gzip.zip", form.split()[-1], members), tmp_path / "p")
    assert_array_equal(data.x_train, UPRIGHT["train"][..., np.newaxis])
    assert_array_equal(data.x_test, UPRIGHT["test"][..., np.newaxis])
    assert [data.classes[label] for label in data.y_train] == ["0", "t", "A", "a", "1"]
    assert [data.classes[label] for label in data.y_test] == ["r", "9", "Z"]


def test_emnist_has_the_official_classes():
    assert list(emnist.CLASSES) == EMNIST.classes_split_dict["balanced"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            emnist_archive(train_labels=idx_gz(np.uint8([0, 1, 2, 3, 47]))),
            "training labels from 0 to 47, expected 0 to 46",
        ),
        (emnist_archive(test_labels=idx_gz(np.uint8([0, 1]))), r"with labels uint8 \(2,\)"),
        (emnist_archive(test_images=idx_gz(noise(3, 27, 28))), r"test images of shape \(28, 27, 1\), expected"),
        (emnist_archive(test_images=idx_gz(noise(3, 28))), r"has shape \(3, 28\), expected \(n, 28, 28\)"),
        (emnist_archive(test_images=idx_gz(noise(3, 28, 28))[:-20]), "test-images-idx3-ubyte.gz: damaged, truncated"),
        (
            emnist_archive(test_labels=gzip.compress(b"\0\0\x08\1\0\0\1\0ab")),
            "test-labels-idx1-ubyte.gz: its header says",
        ),
        (
            emnist_archive(test_images=idx_gz(np.zeros((22_000, 28, 28), np.uint8))),
            "unpacks to more than 16777216 bytes",
        ),
        (
            {k: v for k, v in emnist_archive().items() if "test-labels" not in k},
            "lacks emnist-balanced-test-labels-idx1",
        ),
        ({"gzip/emnist-letters-test-labels-idx1-ubyte.gz": b""}, "holds neither emnist-balanced-train-images-idx3"),
    ],
)
def test_an_unfit_emnist_is_refused(tmp_path, members, message):
    archives.refused(emnist.prepare, pack(tmp_path / "a", "zip", members), message)


MAPPING = np.array([ord(name) for name in emnist.CLASSES], dtype=np.uint8)


def merged(counts: list[int]) -> dict[str, np.ndarray]:
    """EMNIST ByMerge with so many images of each class; an image shows its number in two pixels."""
    labels = np.random.default_rng(4).permutation(np.repeat(np.arange(47), counts)).astype(np.uint8)
    x = np.zeros((len(labels), 28, 28), dtype=np.uint8)
    x[:, 0, 0], x[:, 0, 1] = np.divmod(np.arange(len(labels)), 256)
    return {"x": x, "y": labels, "index": np.arange(len(labels)), "mapping": MAPPING}


@pytest.mark.parametrize("label", [-3, 60])
def test_a_bymerge_with_labels_out_of_range_is_refused(tmp_path, label):
    content = merged([7] * 47)
    content["y"] = content["y"].astype(np.int64)
    content["y"][5] = label
    np.savez(tmp_path / "emnist.npz", **content)
    with pytest.raises(DataError, match=rf"emnist\.npz: labels from .*{label}"):
        emnist.prepare(tmp_path / "emnist.npz", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bymerge_is_capped_and_divided_as_emnist_balanced(tmp_path):
    content = merged([3000, 2800, 700, 7, *[14] * 43])
    data = prepared("emnist", npz_at(tmp_path / "a.npz", **content), tmp_path / "p")
    assert np.bincount(data.y_train).tolist() == [2400, 2400, 600, 6, *[12] * 43]
    assert np.bincount(data.y_test).tolist() == [400, 400, 100, 1, *[2] * 43]
    for x, y in ((data.x_train, data.y_train), (data.x_test, data.y_test)):
        number = x[:, 0, 0, 0].astype(int) * 256 + x[:, 0, 1, 0]
        assert_array_equal(content["y"][number], y)
        assert (np.diff(number) > 0).all()  # no image twice; the order of the source
    assert data.note.startswith("drawn from the test part of EMNIST ByMerge; not the whole data set: 5922 training")
    again = prepared("emnist", tmp_path / "a.npz", tmp_path / "again")
    assert_array_equal(data.x_test, again.x_test)


@pytest.mark.parametrize("mapping", [MAPPING[::-1], MAPPING[1:], MAPPING / 2, np.array(emnist.CLASSES)])
def test_a_bymerge_with_other_classes_is_refused(tmp_path, mapping):
    content = merged([7] * 47) | {"mapping": mapping}
    archives.refused(emnist.prepare, npz_at(tmp_path / "a.npz", **content), "its mapping is not that of EMNIST ByMerge")


def extent(images: np.ndarray) -> tuple[float, float]:
    """Standard deviation of the ink of the mean image, vertically and horizontally, in pixels."""
    ink = images.astype(float).mean(axis=0)[..., 0]
    place = np.arange(28)
    spread = []
    for profile in (ink.sum(axis=1), ink.sum(axis=0)):
        weights = profile / profile.sum()
        spread.append(float(np.sqrt(weights @ (place - weights @ place) ** 2)))
    return spread[0], spread[1]


def test_the_real_emnist_has_all_classes_and_stands_upright(shared, tmp_path):
    source = shared / "data" / "emnist_bymerge_test.npz"
    with np.load(source) as original:
        counts = np.bincount(original["y"])
    assert (counts.sum(), len(counts)) == (116_323, 47)
    data = prepared("emnist", source, tmp_path / "p")
    assert_array_equal(np.bincount(data.y_train) + np.bincount(data.y_test), np.minimum(counts, 2800))
    assert_array_equal(np.bincount(data.y_test), np.rint(np.minimum(counts, 2800) / 7))
    ones, sevens, ts = (data.x_train[data.y_train == data.classes.index(name)] for name in "17T")
    vertical, horizontal = extent(ones)
    assert vertical > 2 * horizontal  # a 1 is tall and thin
    for bar_on_top in (sevens, ts):
        rows, columns = bar_on_top.mean(axis=(0, 2, 3)), bar_on_top.mean(axis=(0, 1, 3))
        assert rows[:14].sum() > rows[14:].sum()
        assert rows[:14].sum() / rows.sum() > columns[:14].sum() / columns.sum()  # transposed, it would be on the left
    assert_allclose(data.mean, 0.1736, atol=0.005)  # EMNIST Balanced, as DFL-AA normalises it
    assert_allclose(data.std, 0.3248, atol=0.01)
