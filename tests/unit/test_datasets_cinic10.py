"""CINIC-10 from tiny archives in its true format, and what is wrong with others."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from outagefl.datasets import arrays, cinic10
from outagefl.datasets.cifar10 import CLASSES as CIFAR10_CLASSES
from tests.unit import archives
from tests.unit.archives import complaint, encode, noise, pack, prepared


def cinic10_archive() -> dict[str, bytes]:
    """The official layout: three parts, images of CIFAR-10 and ImageNet, some of them grey."""
    members = {"README.md": b"CINIC-10", "synsets-to-cifar-10-classes.txt": b""}
    for part in ("train", "valid", "test"):
        for label, name in enumerate(CIFAR10_CLASSES):
            members[f"{part}/{name}/cifar10-train-{label}.png"] = encode(noise(32, 32, 3, seed=label))
            members[f"{part}/{name}/n0{label}_{label}.png"] = encode(noise(32, 32, seed=label))
    return members


@pytest.mark.parametrize("prefix", ["", "./", "CINIC-10/"])
def test_cinic10_is_its_training_and_test_part(tmp_path, prefix):
    members = {prefix + name: content for name, content in cinic10_archive().items()}
    data = prepared("cinic10", pack(tmp_path / "CINIC-10.tar.gz", "tar.gz", members), tmp_path / "p")
    for x, y in ((data.x_train, data.y_train), (data.x_test, data.y_test)):
        assert_array_equal(y, np.repeat(np.arange(10), 2))
        assert_array_equal(x[::2], [noise(32, 32, 3, seed=label) for label in range(10)])
        grey = np.stack([noise(32, 32, seed=label) for label in range(10)])
        assert_array_equal(x[1::2], grey[..., np.newaxis].repeat(3, axis=3))
    assert data.note == ("20 images converted to 3 channels; not the whole data set: 20 training and 20 test images")


def encoded(mode: str, size: tuple[int, int] = (32, 32)) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(noise(size[1], size[0], 3)).convert(mode).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA"])
def test_colour_modes_of_cinic10_are_converted(tmp_path, mode):
    members = cinic10_archive() | {"test/cat/n09_9.png": encoded(mode)}
    data = prepared("cinic10", pack(tmp_path / "a", "tar.gz", members), tmp_path / "p")
    image = data.x_test[data.y_test == 3][2]
    original = np.asarray(Image.open(io.BytesIO(encoded(mode))).convert("RGB"))
    assert_array_equal(image, original)
    assert data.note.startswith("21 images converted")


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (encoded("1"), r"n09_9.png: 1 of \(32, 32\), expected RGB of \(32, 32\) \(width, height\)"),
        (encoded("I;16"), r"n09_9.png: I;16 of \(32, 32\), expected RGB"),
        (encoded("L", (64, 32)), r"n09_9.png: L of \(64, 32\), expected RGB of \(32, 32\)"),
        (encoded("RGB")[:-500], "n09_9.png: cannot be decoded"),
        (b"", "n09_9.png: neither PNG nor JPEG"),
    ],
)
def test_an_unfit_image_of_cinic10_is_refused(tmp_path, image, message):
    members = cinic10_archive() | {"test/cat/n09_9.png": image}
    archives.refused(cinic10.prepare, pack(tmp_path / "a", "tar.gz", members), message)


def test_an_image_that_unpacks_to_another_size_than_it_says_is_refused(tmp_path):
    """A PNG of 32×32 whose data are 16 MiB of zeros."""
    data = zlib.compress(bytes(16 << 20))
    header = struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    image = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )
    source = pack(tmp_path / "a", "tar.gz", cinic10_archive() | {"test/cat/n09_9.png": image})
    message = complaint(cinic10.prepare, source, tmp_path / "p")
    assert message is None or message.startswith(f"{source}: test/cat/n09_9.png: ")
    if message is None:
        assert not arrays.load(tmp_path / "p").x_test[8].any()
