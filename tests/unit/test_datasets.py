"""Preparation of data sets: from archives in their true formats, whole, damaged and malicious."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

from outagefl import components
from outagefl.datasets import arrays, cifar10, digits
from outagefl.errors import DataError
from outagefl.sources import archive
from tests.unit import archives
from tests.unit.archives import FORMATS, Malicious, complaint, encode, pack, python2_pickle

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
NUMBERS = {"train": [0, 2, 10], "test": [1, 9]}  # 10 sorts before 2 as text


def pixels(label: int, number: int) -> np.ndarray:
    """Some image that tells its label and number."""
    rng = np.random.default_rng([label, number])
    image = rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)
    image[0, 0] = (label, number, 0)
    return image


def class_folders(kind: str = "PNG") -> dict[str, bytes]:
    """Name → content of a tiny CIFAR-10 in class folders."""
    suffix = {"PNG": "png", "JPEG": "jpg"}[kind]
    return {
        f"{split}/{name}/{number}.{suffix}": encode(pixels(label, number), kind)
        for split, numbers in NUMBERS.items()
        for label, name in enumerate(CLASSES)
        for number in numbers
    }


def prepare(source: Path, folder: Path) -> arrays.ImageData:
    function, options = components.load("dataset", {"kind": "cifar10"})
    function(source, folder, **options)
    return arrays.load(folder)


refused = partial(archives.refused, cifar10.prepare)


# --- class folders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "data/cifar/"])
@pytest.mark.parametrize("form", FORMATS)
def test_class_folders_are_read_from_any_archive(tmp_path, form, prefix):
    members = {prefix + name: content for name, content in class_folders().items()}
    members |= {"README.txt": b"hello", "__MACOSX/train/cat/._0.png": b"", f"{prefix}train/cat/.x.png": b""}
    data = prepare(pack(tmp_path / "no-telling-name", form, members), tmp_path / "prepared")
    for split, x, y in (("train", data.x_train, data.y_train), ("test", data.x_test, data.y_test)):
        expected = [(label, number) for label in range(10) for number in NUMBERS[split]]
        assert_array_equal(x, np.stack([pixels(*image) for image in expected]))
        assert_array_equal(y, [label for label, _ in expected])
        assert x.flags.c_contiguous
    assert data.classes == tuple(CLASSES)
    assert data.note == "not the whole data set: 30 training and 20 test images"


def test_images_are_ordered_by_numbers_of_any_length(tmp_path):
    """Python itself refuses to read a number of more than 4,300 digits; 01 and 1 are the same number."""
    numbers = ["0", "1", "01", "2", "10", "9" * 4999, "1" + "0" * 4999]
    pictures = {number: np.full((32, 32, 3), place, dtype=np.uint8) for place, number in enumerate(numbers)}
    members = class_folders() | {f"train/cat/{number}.png": encode(picture) for number, picture in pictures.items()}
    members |= {f"train/cat/{number}.png": encode(pictures[str(number)]) for number in NUMBERS["train"]}
    data = prepare(pack(tmp_path / "a", "zip", members), tmp_path / "prepared")
    cats = data.x_train[data.y_train == CLASSES.index("cat")]
    assert cats[:, 0, 0, 0].tolist() == [0, 2, 1, 3, 4, 5, 6]


def test_jpeg_content_is_noted_whatever_its_name(tmp_path):
    members = {name.replace(".jpg", ".png"): content for name, content in class_folders("JPEG").items()}
    data = prepare(pack(tmp_path / "a", "zip", members), tmp_path / "prepared")
    assert data.note.startswith("images JPEG-recompressed; ")


def test_a_missing_source_is_named(tmp_path):
    refused(tmp_path / "nowhere.tar.xz", "no such file or folder")


@pytest.mark.parametrize("content", [b"", b"<html>404</html>" * 100], ids=["empty", "web page"])
def test_what_is_no_archive_is_refused(tmp_path, content):
    source = tmp_path / "cifar.tar.gz"
    source.write_bytes(content)
    refused(source, "not an archive; expected a folder or a tar, tar.gz, tar.xz or zip file")


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.xz", "zip"])
@given(share=st.floats(0.0, 1.0, exclude_max=True))
@settings(max_examples=15)
def test_a_truncated_archive_is_refused(tmp_path_factory, form, share):
    source = pack(tmp_path_factory.mktemp("cut") / "a", form, class_folders())
    length = max(600, int(share * source.stat().st_size))
    os.truncate(source, length)
    refused(source, "damaged, truncated or unreadable")


def test_a_tar_cut_between_two_members_is_refused(tmp_path):
    source = pack(tmp_path / "a.tar", "tar", class_folders())
    with tarfile.open(source) as file:
        cut = file.getmembers()[-3].offset
    os.truncate(source, cut)
    refused(source, "end-of-archive marker is missing")


@pytest.mark.parametrize("form", ["tar.gz", "tar.xz"])
@given(place=st.floats(0.0, 1.0, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=25)
def test_a_flipped_bit_is_noticed_or_harmless(tmp_path_factory, form, place, bit):
    folder = tmp_path_factory.mktemp("flip")
    source = pack(folder / "a", form, class_folders())
    content = bytearray(source.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    source.write_bytes(content)
    message = complaint(cifar10.prepare, source, folder / "prepared")
    if message is None:
        assert_array_equal(arrays.load(folder / "prepared").x_test[1], pixels(0, 9))
    else:
        assert str(source) in message


def without(part: str) -> dict[str, bytes]:
    return {name: content for name, content in class_folders().items() if part not in name}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"cat/1.png": b"", "notes.txt": b""},
            "holds neither the pickled batches data_batch_1, .* nor {train,test}/<class>/<n>.png",
        ),
        (without("test/"), "no images in test/<class>/"),
        (without("train/"), "no images in train/<class>/"),
        (without("test/deer"), "test/ lacks the classes deer$"),
        (without("train/dog"), "train/ lacks the classes dog$"),
        (without("/ship/"), "train/ lacks the classes ship$"),
        (class_folders() | {"test/dogs/1.png": b""}, "test/: unknown class of CIFAR-10 'dogs'; did you mean 'dog'"),
        (class_folders() | {"train/cat/7.png": b"not an image"}, "train/cat/7.png: neither PNG nor JPEG"),
        (class_folders() | {"train/cat/7.png": encode(pixels(3, 7))[:-1000]}, "train/cat/7.png: cannot be decoded"),
        (class_folders() | {"train/cat/7.png": encode(pixels(3, 7), "BMP")}, "train/cat/7.png: neither PNG nor JPEG"),
        (class_folders() | {"train/cat/7.png": encode(pixels(3, 7)[:28])}, r"7.png: RGB of \(32, 28\), expected RGB"),
        (class_folders() | {"train/cat/7.png": encode(pixels(3, 7)[..., 0])}, r"7.png: L of \(32, 32\), expected RGB"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_unfit_class_folders_are_refused(tmp_path, members, message):
    refused(pack(tmp_path / "a", "zip", members), message)


@given(place=st.floats(0.0, 1.0, exclude_max=True), value=st.integers(0, 255), kind=st.sampled_from(["PNG", "JPEG"]))
@settings(max_examples=60)
def test_a_damaged_image_is_decoded_or_refused(tmp_path_factory, place, value, kind):
    image = bytearray(encode(pixels(3, 7), kind))
    image[int(place * len(image))] = value
    folder = tmp_path_factory.mktemp("damaged")
    members = class_folders() | {"train/cat/7.png": bytes(image)}
    source = pack(folder / "a", "tar", members)
    message = complaint(cifar10.prepare, source, folder / "prepared")
    assert message is None or message.startswith(f"{source}: train/cat/7.png: ")


@pytest.mark.parametrize("form", FORMATS)
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, form, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_FILE", 10_000)
    members = class_folders() | {"train/cat/7.png": bytes(10_001)}
    refused(pack(tmp_path / "a", form, members), "7.png: unpacks to 10001 bytes")


def test_an_encrypted_zip_is_refused(tmp_path):
    source = pack(tmp_path / "a.zip", "zip", class_folders())
    content = bytearray(source.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # set the flag "encrypted" of every member
        start = -1
        while (start := content.find(signature, start + 1)) >= 0:
            content[start + flags] |= 1
    source.write_bytes(content)
    refused(source, "password required")


# --- the official archive --------------------------------------------------------------------------------------------


def batch(labels: list[int], start: int) -> dict[str, Any]:
    images = np.stack([pixels(label, start + index) for index, label in enumerate(labels)])
    return {
        "batch_label": "a batch",
        "labels": labels,
        "data": images.transpose(0, 3, 1, 2).reshape(len(labels), 3072),
        "filenames": [f"image_{index}.png" for index in range(len(labels))],
    }


def official() -> dict[str, bytes]:
    """Name → content of a tiny archive in the official format: four images a batch."""
    batches = {f"data_batch_{n}": batch([n, 0, 9, n], 10 * n) for n in range(1, 6)} | {"test_batch": batch([7, 8], 90)}
    members = {f"cifar-10-batches-py/{name}": python2_pickle(content) for name, content in batches.items()}
    meta = {"label_names": CLASSES, "num_cases_per_batch": 4, "num_vis": 3072}
    return members | {
        "cifar-10-batches-py/batches.meta": python2_pickle(meta),
        "cifar-10-batches-py/readme.html": b"<meta>",
    }


def test_the_test_writes_what_python_2_wrote():
    content = official()["cifar-10-batches-py/test_batch"]
    assert b"cnumpy.core.multiarray\n_reconstruct\n" in content
    assert b"_codecs" not in content
    assert pickle.loads(content, encoding="latin1")["labels"] == [7, 8]


@pytest.mark.parametrize("form", ["tar.gz", "folder"])
def test_official_batches_are_read_in_order(tmp_path, form):
    data = prepare(pack(tmp_path / "cifar-10-python.tar.gz", form, official()), tmp_path / "prepared")
    assert_array_equal(data.y_train, [label for n in range(1, 6) for label in (n, 0, 9, n)])
    assert_array_equal(data.x_train[5], pixels(0, 21))
    assert_array_equal(data.x_test, [pixels(7, 90), pixels(8, 91)])
    assert (data.x_train.dtype, data.x_train.shape, data.y_train.dtype) == (np.uint8, (20, 32, 32, 3), np.int64)
    assert data.x_train.flags.c_contiguous
    assert data.classes == tuple(CLASSES)


def changed(name: str, **entries: Any) -> dict[str, bytes]:
    return official() | {f"cifar-10-batches-py/{name}": python2_pickle(batch([1, 2], 0) | entries)}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({k: v for k, v in official().items() if "batch_3" not in k}, "lacks data_batch_3"),
        ({k: v for k, v in official().items() if "test" not in k}, "lacks test_batch"),
        (official() | {"test_batch": b"no pickle"}, "test_batch: not a pickle of plain data and arrays"),
        (official() | {"test_batch": b""}, "test_batch: not a pickle of plain data and arrays"),
        (official() | {"test_batch": python2_pickle([1, 2])}, "test_batch: not a CIFAR-10 batch"),
        (changed("test_batch", labels=[1]), "test_batch: not a CIFAR-10 batch; expected"),
        (changed("test_batch", labels=[1, 10]), "test_batch: not a CIFAR-10 batch; expected"),
        (changed("test_batch", labels=[1, -1]), "test_batch: not a CIFAR-10 batch; expected"),
        (changed("test_batch", labels=[1, 2**70]), "test_batch: not a CIFAR-10 batch"),
        (changed("test_batch", labels=None), "test_batch: not a CIFAR-10 batch"),
        (changed("test_batch", data=np.zeros((2, 3071), np.uint8)), "test_batch: not a CIFAR-10 batch; expected"),
        (changed("test_batch", data=np.zeros((2, 3072), np.float32)), "test_batch: not a CIFAR-10 batch; expected"),
        (changed("test_batch", data=[[0] * 3072] * 2), "test_batch: not a CIFAR-10 batch"),
    ],
)
def test_unfit_batches_are_refused(tmp_path, members, message):
    refused(pack(tmp_path / "a", "tar.gz", members), message)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("function", [os.system, eval, getattr, np.load, shutil.rmtree])
def test_a_pickle_that_calls_anything_is_refused(tmp_path, monkeypatch, protocol, function):
    monkeypatch.chdir(tmp_path)
    content = pickle.dumps({"data": Malicious(function, "touch been-here")}, protocol)
    source = pack(tmp_path / "a", "tar", official() | {"test_batch": content})
    refused(source, f"test_batch: .*asks for .*{function.__name__}, which is refused")
    assert not (tmp_path / "been-here").exists()


# --- the prepared folder ---------------------------------------------------------------------------------------------


def split(shape: tuple[int, ...] = (4, 2, 2, 1), labels: tuple[int, ...] = (0, 1, 1, 0), dtype: Any = np.uint8) -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype), np.array(labels)


def test_an_older_preparation_is_replaced(tmp_path):
    arrays.save(tmp_path / "set", "first", split(), split(), classes=["a", "b"])
    arrays.save(tmp_path / "set", "second", split(), split(), classes=["c", "d"], note="n")
    data = arrays.load(tmp_path / "set")
    assert (data.classes, data.note) == (("c", "d"), "n")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_loaded_arrays_are_mapped_and_read_only(tmp_path):
    arrays.save(tmp_path / "set", "x", split(), split(), classes=["a", "b"])
    data = arrays.load(tmp_path / "set")
    assert isinstance(data.x_train, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        data.x_train[0] = 0


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        (split((4, 2, 2)), split(), "x, training images: uint8 of shape"),
        (split(dtype=float), split(), "x, training images: float64 of shape"),
        (split((0, 2, 2, 1), ()), split(), "x, training images: uint8 of shape"),
        (split(), split(labels=(0, 1, 1)), r"x, test images: labels are int64 of shape \(3,\), expected int64 \(4,\)"),
        (split(), split(labels=(0, 1, 2, 1)), "x, test images: labels from 0 to 2, expected 0 to 1"),
        (split(), split(labels=(0, -1, 1, 1)), "x, test images: labels from -1 to 1, expected 0 to 1"),
        (split(), split((4, 2, 3, 1)), "training images have shape"),
    ],
)
def test_arrays_that_break_the_format_are_refused(tmp_path, train, test, message):
    with pytest.raises(DataError, match=message):
        arrays.save(tmp_path / "set", "x", train, test, classes=["a", "b"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["info.json", "x_train.npy", "y_test.npy"])
@pytest.mark.parametrize("fault", ["missing", "empty", "cut"])
def test_a_damaged_prepared_folder_is_named(tmp_path, name, fault):
    arrays.save(tmp_path / "set", "x", split(), split(), classes=["a", "b"])
    file = tmp_path / "set" / name
    file.unlink() if fault == "missing" else os.truncate(file, 0 if fault == "empty" else file.stat().st_size // 2)
    with pytest.raises(DataError, match=r"set: not a prepared data set"):
        arrays.load(tmp_path / "set")


@given(st.integers(1, 2500), st.sampled_from([1, 3]), st.integers(0, 2**32))
@settings(max_examples=15)
def test_channel_statistics_equal_those_of_floats(images, channels, seed):
    x = np.random.default_rng(seed).integers(0, 256, (images, 2, 3, channels), dtype=np.uint8)
    mean, std = arrays.channel_statistics(x)
    assert_allclose(mean, (x / 255).mean(axis=(0, 1, 2)), rtol=1e-12)
    assert_allclose(std, (x / 255).std(axis=(0, 1, 2)), rtol=1e-12)


# --- digits and the real CIFAR-10 ------------------------------------------------------------------------------------


def test_digits_are_split_by_class_and_keep_every_image(tmp_path):
    function, options = components.load("dataset", {"kind": "digits"})
    function(None, tmp_path / "digits", **options)
    data = arrays.load(tmp_path / "digits")
    assert (data.x_train.shape[1:], data.x_test.shape[1:]) == ((8, 8, 1), (8, 8, 1))
    assert (data.x_train.min(), data.x_train.max()) == (0, 255)
    bundled = load_digits()
    original = np.rint(np.concatenate([data.x_train, data.x_test])[..., 0] * (16 / 255))
    labels = np.concatenate([data.y_train, data.y_test])

    def rows(x: Any, y: Any) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, np.column_stack([x.reshape(len(x), 64), y]).astype(int)))

    assert rows(original, labels) == rows(bundled.images, bundled.target)
    for digit in range(10):
        assert (data.y_test == digit).sum() == round(0.2 * (bundled.target == digit).sum())


def test_the_split_of_digits_never_changes(tmp_path):
    digits.prepare(None, tmp_path / "a")
    digits.prepare(None, tmp_path / "b")
    a, b = arrays.load(tmp_path / "a"), arrays.load(tmp_path / "b")
    assert_array_equal(a.x_test, b.x_test)
    assert hashlib.sha256(a.x_test.tobytes()).hexdigest().startswith("9e8d9f2fa8fd1e91")


@pytest.mark.slow
def test_the_real_cifar10_has_its_published_statistics(shared, tmp_path):
    data = prepare(shared / "data" / "cifar10_jpeg.tar.xz", tmp_path / "cifar10")
    assert_array_equal(np.bincount(data.y_train), [5000] * 10)
    assert_array_equal(np.bincount(data.y_test), [1000] * 10)
    assert_allclose(data.mean, (0.4914, 0.4822, 0.4465), atol=0.005)
    assert_allclose(data.std, (0.2470, 0.2435, 0.2616), atol=0.005)
    assert data.note == "images JPEG-recompressed"
