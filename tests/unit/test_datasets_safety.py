"""Archives made to do harm: names that lead elsewhere, links, bombs. They are refused or have no effect."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outagefl.datasets import arrays, cifar10, cinic10, image_folder
from outagefl.datasets.cifar10 import CLASSES
from outagefl.errors import DataError
from outagefl.sources import archive, idx, npy
from tests.unit.archives import complaint, encode, pack, refused

ZEROS = 17 << 20  # more than any archive may unpack to, however small


def images(splits: tuple[str, ...] = ("train", "test")) -> dict[str, bytes]:
    """One image a class and split."""
    image = encode(np.full((32, 32, 3), 7, dtype=np.uint8))
    return {f"{split}/{name}/1.png": image for split in splits for name in CLASSES}


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# --- names and links -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.xz", "zip"])
@pytest.mark.parametrize("name", ["../train/cat/2.png", "train/../../train/cat/2.png", "{root}/train/cat/2.png"])
def test_an_image_whose_name_leads_out_of_the_archive_is_refused(tmp_path, form, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    name = name.format(root=tmp_path)
    source = pack(inside / "a", form, images() | {name: images()["train/cat/1.png"]})
    refused(cifar10.prepare, source, f"{name}: this name leads out of the archive")
    assert files_below(tmp_path) == {"inside/a"}


@pytest.mark.parametrize("form", ["tar.gz", "zip"])
def test_other_files_are_not_even_read_whatever_their_names(tmp_path, form, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    evil = {"../evil.txt": b"x", f"{tmp_path}/evil.txt": b"x", "train/../evil.txt": b"x"}
    cifar10.prepare(pack(inside / "a", form, images() | evil), inside / "prepared")
    assert not [name for name in files_below(tmp_path) if "evil" in name]
    assert len(arrays.load(inside / "prepared").y_train) == 10


def with_special(source: Path, kind: bytes, target: str = "/etc/passwd") -> Path:
    """A tar of images of which one is a link or device."""
    members = images()
    members.pop("train/cat/1.png")
    pack(source, "tar", members)
    with tarfile.open(source, "a") as file:
        info = tarfile.TarInfo("train/cat/1.png")
        info.type, info.linkname = kind, target
        file.addfile(info)
    return source


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE], ids=str)
def test_a_link_or_device_in_place_of_an_image_is_refused(tmp_path, kind):
    refused(cifar10.prepare, with_special(tmp_path / "a", kind), "train/cat/1.png: a link or device; only plain files")


def test_a_link_in_a_zip_is_refused(tmp_path):
    source = tmp_path / "a.zip"
    with zipfile.ZipFile(source, "w") as file:
        for name, content in images().items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16 if name == "train/cat/1.png" else 0o644 << 16
            file.writestr(info, b"/etc/passwd" if name == "train/cat/1.png" else content)
    refused(cifar10.prepare, source, "train/cat/1.png: a link or device; only plain files")


def test_a_file_with_holes_is_refused(tmp_path):
    """GNU tar stores runs of zeros as nothing: a few bytes that stand for gigabytes."""
    source = pack(tmp_path / "a", "tar", images())
    with tarfile.open(source, "a", format=tarfile.GNU_FORMAT) as file:
        info = tarfile.TarInfo("train/cat/2.png")
        info.type = tarfile.GNUTYPE_SPARSE
        file.addfile(info)
    refused(cifar10.prepare, source, "2.png: a link or device; only plain files")


# --- bombs -----------------------------------------------------------------------------------------------------------


def bomb(path: Path, form: str, name: str) -> Path:
    """Images, and a file of zeros that is packed into a thousandth of its size."""
    members = images() | {name: bytes(ZEROS)}
    if form != "zip":
        return pack(path, form, members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member, content in members.items():
            file.writestr(member, content)
    return path


@pytest.mark.parametrize("name", ["train/cat/2.png", "notes.txt"], ids=["an image", "another file"])
@pytest.mark.parametrize("form", ["tar.gz", "tar.xz", "zip"])
def test_a_bomb_is_refused_by_its_ratio(tmp_path, form, name):
    source = bomb(tmp_path / "a", form, name)
    assert source.stat().st_size < ZEROS / 100
    refused(cifar10.prepare, source, f"unpacks to more than {16 << 20} bytes, too many for its size")


@pytest.mark.parametrize(("opener", "packed"), [(gzip.open, gzip.compress), (lzma.open, lzma.compress)])
def test_an_endless_stream_is_not_read_to_its_end(tmp_path, monkeypatch, opener, packed):
    """Zeros after the end of the tar: 10 members of the compressed format, of which the limit lets only two pass."""
    source = pack(tmp_path / "a", "tar", images())
    source.write_bytes(packed(source.read_bytes()) + packed(bytes(ZEROS // 2)) * 10)
    unpacked = []
    read = archive._Bounded.read

    def counted(stream: Any, size: int) -> bytes:
        content = read(stream, size)
        unpacked.append(len(content))
        return content

    monkeypatch.setattr(archive._Bounded, "read", counted)
    refused(cifar10.prepare, source, "too many for its size")
    assert sum(unpacked) <= 16 << 20


def test_the_total_is_limited_whatever_the_ratio(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_TOTAL", 20_000)
    for form in ("tar", "tar.gz", "zip"):
        noise = {"notes.txt": np.random.default_rng(0).bytes(20_001)}
        refused(cifar10.prepare, pack(tmp_path / form, form, images() | noise), "unpacks to more than 20000 bytes")


def test_a_zip_that_declares_less_than_it_holds_is_refused(tmp_path):
    """A local header and directory that say 100 bytes for 17 MiB of zeros."""
    source = bomb(tmp_path / "a.zip", "zip", "train/cat/2.png")
    content = bytearray(source.read_bytes())
    real = ZEROS.to_bytes(4, "little")
    assert content.count(real) == 2
    source.write_bytes(content.replace(real, (100).to_bytes(4, "little")))
    refused(cifar10.prepare, source, "damaged, truncated or unreadable")


def test_a_bomb_of_one_gzip_file_is_refused():
    with pytest.raises(DataError, match=r"x: unpacks to more than 16777216 bytes"):
        archive.gunzip(gzip.compress(bytes(ZEROS)), "x")


@pytest.mark.parametrize("cut", [1, 8, 12, 30])
def test_a_truncated_gzip_file_is_refused(cut):
    with pytest.raises(DataError, match="x: damaged, truncated"):
        archive.gunzip(gzip.compress(bytes(range(256)))[:-cut], "x")


@pytest.mark.parametrize(
    ("packed", "unpacked"),
    [
        (169_001_437, 50_000 * 3072 + 3_000_000),  # CIFAR-100
        (687_544_992, 270_000 * 4096),  # CINIC-10
        (561_753_746, 561_900_000),  # EMNIST: gzip files, stored
    ],
)
def test_the_limits_let_the_published_archives_pass(packed, unpacked):
    assert unpacked < archive.allowance(packed)
    assert archive.LARGEST_FILE > 50_000 * 3072 + 3_000_000


# --- arrays that promise too much ------------------------------------------------------------------------------------


def idx_file(*shape: int, content: bytes = b"", magic: bytes = b"\0\0\x08") -> bytes:
    return magic + bytes([len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape) + content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0\x08",
        idx_file(),
        idx_file(2, content=b"abc"),
        idx_file(4, content=b"abc"),
        idx_file(2**32 - 1, 2**32 - 1, 2**32 - 1, content=b"abc"),
        idx_file(3, content=b"abc", magic=b"\0\0\x0d"),
        idx_file(3, content=b"abc", magic=b"\1\0\x08"),
        idx_file(2, 3)[:-1],
    ],
)
def test_an_idx_file_that_is_not_what_its_header_says_is_refused(content):
    with pytest.raises(DataError, match=r"^x: (not an IDX file|its header says)"):
        idx.load(content, "x")


def test_idx_files_are_read():
    assert idx.load(idx_file(2, 3, content=b"abcdef"), "x").tolist() == [[97, 98, 99], [100, 101, 102]]
    assert idx.load(idx_file(0, 3), "x").shape == (0, 3)


def npy_file(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3), np.asfortranarray(np.ones((2, 3))), np.zeros((0, 2))])
def test_array_files_are_read(array):
    assert npy.load(npy_file(array), "x").tolist() == array.tolist()


def objects() -> bytes:
    return npy_file(np.array([{"a": os.system}], dtype=object))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a sound array file"),
        (b"\x93NUMPY\x09\x00rest", "not a sound array file"),
        (npy_file(np.arange(6))[:-1], "its header says 48 bytes .* it holds 47"),
        (npy_file(np.arange(6)) + b"x", "its header says 48 bytes .* it holds 49"),
        (npy_file(np.arange(6)).replace(b"(6,)", b"(6000000000000,)"[:4]), "not a sound array file"),
        (npy_file(np.arange(600000)).replace(b"(600000,)", b"(9999999,)")[:5000], "its header says"),
        (npy_file(np.arange(6)).replace(b"(6,)", b"(-6)"), "not a sound array file"),
        (objects(), "holds Python objects, which are refused"),
    ],
)
def test_an_unsound_array_file_is_refused(content, message):
    with pytest.raises(DataError, match=f"^x: not a sound array file.*{message}|^x: {message}"):
        npy.load(content, "x")


# --- memory ----------------------------------------------------------------------------------------------------------


def test_images_are_decoded_as_they_are_read(tmp_path, monkeypatch):
    """What keeps CINIC-10 small: never more than one encoded image, and none of the part that is left out."""
    events = []

    def told(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            events.append(what)
            return function(*arguments)

        return wrapped

    source = pack(tmp_path / "a", "tar.gz", images(("train", "valid", "test")))
    monkeypatch.setattr(archive, "_read", told("read", archive._read))
    monkeypatch.setattr(image_folder, "decode", told("decode", image_folder.decode))
    cinic10.prepare(source, tmp_path / "prepared")
    assert events == ["read", "decode"] * 20


def test_a_folder_that_changes_while_it_is_read_is_noticed(tmp_path, monkeypatch):
    source = pack(tmp_path / "a", "folder", images())
    monkeypatch.setattr(archive, "names", lambda _: [*images(), "train/cat/2.png"])
    assert (
        complaint(cifar10.prepare, source, tmp_path / "b")
        == f"{source}: changed while it was read; train/cat/2.png is gone"
    )
