"""What holds for every data set of an archive: cut and damaged files are refused, class folders are read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from outagefl.datasets import cifar100, cinic10, emnist, svhn
from outagefl.datasets.cifar10 import CLASSES as CIFAR10_CLASSES
from tests.unit import archives
from tests.unit.archives import complaint, encode, noise, npz, pack, prepared
from tests.unit.test_datasets_cifar100 import both_parts, cifar100_archive
from tests.unit.test_datasets_cinic10 import cinic10_archive
from tests.unit.test_datasets_emnist import emnist_archive
from tests.unit.test_datasets_svhn import mat, svhn_files

SOURCES: dict[str, tuple[Callable[[Path, Path], None], str, dict[str, bytes]]] = {
    "cifar100": (cifar100.prepare, "tar.gz", cifar100_archive()),
    "emnist": (emnist.prepare, "zip", emnist_archive()),
    "svhn": (svhn.prepare, "zip", svhn_files()),
    "cinic10": (cinic10.prepare, "tar.gz", cinic10_archive()),
}


@pytest.mark.parametrize("kind", SOURCES)
@given(share=st.floats(0.0, 1.0, exclude_max=True))
@settings(max_examples=8)
def test_a_truncated_archive_is_refused(tmp_path_factory, kind, share):
    prepare, form, members = SOURCES[kind]
    source = pack(tmp_path_factory.mktemp("cut") / "a", form, members)
    os.truncate(source, int(share * source.stat().st_size))
    archives.refused(prepare, source, "damaged, truncated or unreadable|not an archive")


@pytest.mark.parametrize("form", ["a .mat file", "an array file"])
@given(place=st.floats(0.0, 1.0, exclude_max=True), value=st.integers(0, 255))
@settings(max_examples=25)
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, form, place, value):
    folder = tmp_path_factory.mktemp("damaged")
    if form == "a .mat file":
        content = bytearray(mat("test", compressed=False))
        content[int(place * len(content))] = value
        source = pack(folder / "a", "folder", svhn_files(test=bytes(content)))
        prepare = svhn.prepare
    else:
        content = bytearray(npz(**both_parts()))
        content[int(place * len(content))] = value
        source, prepare = folder / "a.npz", cifar100.prepare
        source.write_bytes(content)
    message = complaint(prepare, source, folder / "prepared")
    assert message is None or message.startswith(str(source))


@pytest.mark.parametrize(
    ("kind", "classes", "shape"),
    [
        ("cifar100", cifar100.CLASSES, (32, 32, 3)),
        ("emnist", emnist.CLASSES, (28, 28)),
        ("svhn", tuple("0123456789"), (32, 32, 3)),
        ("cinic10", CIFAR10_CLASSES, (32, 32, 3)),
    ],
)
def test_every_data_set_is_read_from_class_folders(tmp_path, kind, classes, shape):
    images = {name: noise(*shape, seed=label) for label, name in enumerate(classes)}
    members = {f"{part}/{name}/1.png": encode(image) for name, image in images.items() for part in ("train", "test")}
    data = prepared(kind, pack(tmp_path / "a", "tar.xz", members), tmp_path / "p")
    assert data.y_train.tolist() == data.y_test.tolist() == list(range(len(classes)))
    assert_array_equal(data.x_test.squeeze(), list(images.values()))
    assert data.classes == tuple(classes)
