"""Images of one's own: whatever classes and size they have, all alike."""

from __future__ import annotations

import pytest
from numpy.testing import assert_array_equal

from outagefl.datasets import own_images
from tests.unit.archives import FORMATS, complaint, encode, noise, pack, prepared


def folders(*shape: int, kind: str = "PNG") -> dict[str, bytes]:
    """Two classes with two training images and a test image each."""
    suffix = {"PNG": "png", "JPEG": "jpg"}[kind]
    return {
        f"mine/{part}/{name}/{number}.{suffix}": encode(noise(*shape, seed=number), kind)
        for name in ("dog", "cat")
        for part, numbers in (("train", (2, 10)), ("test", (3,)))
        for number in numbers
    }


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(12, 9), (7, 20, 3)])
def test_classes_and_size_are_those_of_the_images(tmp_path, form, shape):
    data = prepared("own_images", pack(tmp_path / "a", form, folders(*shape)), tmp_path / "p")
    assert data.classes == ("cat", "dog")
    assert data.y_train.tolist() == [0, 0, 1, 1]
    assert data.y_test.tolist() == [0, 1]
    assert_array_equal(data.x_train.squeeze()[0], noise(*shape, seed=2))
    assert_array_equal(data.x_train.squeeze()[1], noise(*shape, seed=10))
    assert data.note == ""


def test_jpeg_is_noted(tmp_path):
    data = prepared("own_images", pack(tmp_path / "a", "zip", folders(8, 8, kind="JPEG")), tmp_path / "p")
    assert data.note == "images JPEG-recompressed"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mine/train/dog/5.png": encode(noise(8, 9))}, ["mine/train/dog/5.png", "(9, 8)", "expected L of (8, 8)"]),
        ({"mine/train/dog/5.png": encode(noise(8, 8, 3))}, ["mine/train/dog/5.png", "RGB", "expected L"]),
        ({"mine/train/bird/1.png": encode(noise(8, 8))}, ["test/ lacks the classes bird"]),
        ({"mine/test/bird/1.png": encode(noise(8, 8))}, ["train/ lacks the classes bird"]),
        ({"mine/train/cat/notes.txt": b"x"}, ["mine/train/cat/notes.txt", "expected {train,test}/<class>/<n>.png"]),
        ({"mine/train/cat/more/9.png": encode(noise(8, 8))}, ["mine/train/cat/more/9.png", "expected"]),
        ({"extra/train/cat/9.png": encode(noise(8, 8))}, ["below extra/train and below mine/train"]),
        ({"mine/test/cat/1.png": b"no image"}, ["mine/test/cat/1.png", "PNG"]),
        ({"mine/train/dog/5.png": encode(noise(8, 8, 4))}, ["mine/train/dog/5.png", "RGBA"]),
    ],
)
def test_what_is_unfit_is_named(tmp_path, changes, words):
    source = pack(tmp_path / "a", "folder", folders(8, 8) | changes)
    message = complaint(own_images.prepare, source, tmp_path / "p")
    assert message is not None
    for word in [str(source), *words]:
        assert word in message
    assert not (tmp_path / "p").exists()


def test_a_folder_without_images_says_what_was_expected(tmp_path):
    source = pack(tmp_path / "a", "folder", {"cat/1.png": encode(noise(8, 8))})
    message = complaint(own_images.prepare, source, tmp_path / "p")
    assert message == f"{source}: holds no {{train,test}}/<class>/<n>.png or .jpg"


def test_hidden_files_and_what_lies_beside_the_parts_do_not_count(tmp_path):
    more = {"mine/train/cat/.directory": b"x", "mine/licence.txt": b"x"}
    data = prepared("own_images", pack(tmp_path / "a", "folder", folders(8, 8) | more), tmp_path / "p")
    assert len(data.y_train) == 4


def test_one_class_is_none_to_tell_from_others(tmp_path):
    cats = {name: image for name, image in folders(8, 8).items() if "cat" in name}
    message = complaint(own_images.prepare, pack(tmp_path / "a", "folder", cats), tmp_path / "p")
    assert message == f"{tmp_path / 'a'}: holds the one class cat; expected two or more"
