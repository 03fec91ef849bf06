"""Archives made to do harm: names that lead elsewhere, links, bombs. They are refused or have no effect."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outagefl import components
from outagefl.datasets import arrays, cifar10, cinic10, image_folder
from outagefl.datasets.cifar10 import CLASSES
from outagefl.errors import DataError
from outagefl.sources import archive, idx, npy
from tests.unit.archives import complaint, encode, pack, refused
from tests.unit.test_datasets_cifar100 import cifar100_archive
from tests.unit.test_datasets_emnist import emnist_archive
from tests.unit.test_datasets_svhn import svhn_files

ZEROS = 17 << 20  # more than any archive may unpack to, however small


def images(splits: tuple[str, ...] = ("train", "test")) -> dict[str, bytes]:
    """One image a class and split."""
    image = encode(np.full((32, 32, 3), 7, dtype=np.uint8))
    return {f"{split}/{name}/1.png": image for split in splits for name in CLASSES}


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# --- names and links -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["tar", "tar.gz", "tar.xz", "zip"])
@pytest.mark.parametrize(
    "name",
    ["../train/cat/2.png", "train/../../train/cat/2.png", "{root}/train/cat/2.png", "../evil.txt", "{root}/evil/"],
)
def test_an_archive_with_a_name_that_leads_out_of_it_is_refused(tmp_path, form, name):
    """Whether that member is an image, another file or (in a zip) a folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    name = name.format(root=tmp_path)
    source = pack(inside / "a", form, images() | {name: images()["train/cat/1.png"]})
    refused(cifar10.prepare, source, f"^{source}: {name}: this name leads out of the archive$")
    with pytest.raises(DataError, match="leads out of the archive"):
        archive.names(source)
    assert files_below(tmp_path) == {"inside/a"}


PLACES = ["train/cat/1.png", "notes.txt"]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE], ids=str)
def test_a_tar_with_a_link_or_device_is_refused(tmp_path, kind, name):
    members = images()
    members.pop(name, None)
    source = pack(tmp_path / "a", "tar", members)
    with tarfile.open(source, "a") as file:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        file.addfile(info)
    refused(cifar10.prepare, source, f"^{source}: {name}: a link or device; only archives of plain files are read$")


@pytest.mark.parametrize("name", [*PLACES, "train/linked/"])
@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO])
def test_a_zip_with_a_link_or_device_is_refused(tmp_path, kind, name):
    source = tmp_path / "a.zip"
    with zipfile.ZipFile(source, "w") as file:
        for member, content in (images() | {name: b"/etc/passwd"}).items():
            info = zipfile.ZipInfo(member)
            info.external_attr = (kind if member == name else stat.S_IFREG) << 16
            file.writestr(info, content)
    refused(cifar10.prepare, source, f"^{source}: {name}: a link or device; only archives of plain files are read$")


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_folders_in_an_archive_are_harmless(tmp_path, form):
    made = shutil.make_archive(str(tmp_path / "a"), form, pack(tmp_path / "b", "folder", images()))
    cifar10.prepare(Path(made), tmp_path / "prepared")
    assert len(arrays.load(tmp_path / "prepared").y_train) == 10


def test_links_in_a_folder_of_ones_own_are_followed(tmp_path):
    source = pack(tmp_path / "a", "folder", images())
    (source / "train" / "cat" / "2.png").symlink_to(source / "train" / "cat" / "1.png")
    assert "train/cat/2.png" in archive.names(source)


def test_a_file_with_holes_is_refused(tmp_path):
    """GNU tar stores runs of zeros as nothing: a few bytes that stand for gigabytes."""
    source = pack(tmp_path / "a", "tar", images())
    with tarfile.open(source, "a", format=tarfile.GNU_FORMAT) as file:
        info = tarfile.TarInfo("train/cat/2.png")
        info.type = tarfile.GNUTYPE_SPARSE
        file.addfile(info)
    refused(cifar10.prepare, source, "2.png: a link or device; only archives of plain files")


# --- one name, two files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_a_name_that_stands_twice_is_refused(tmp_path, form):
    source, name = pack(tmp_path / "a", form, images()), "train/cat/1.png"
    if form == "tar":
        with tarfile.open(source, "a") as file:
            file.addfile(tarfile.TarInfo(name))
    else:
        with zipfile.ZipFile(source, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr(name, b"")
    refused(cifar10.prepare, source, f"{name}: there are 2 files of this name; expected one")


@pytest.mark.parametrize(
    ("kind", "form", "members"),
    [
        ("cifar100", "tar.gz", cifar100_archive()),
        ("emnist", "zip", emnist_archive()),
        ("svhn", "folder", svhn_files()),
    ],
)
def test_a_second_official_file_in_another_folder_is_refused(tmp_path, kind, form, members):
    for name in [name for name in members if "train" in name and "letters" not in name]:
        source = pack(tmp_path / name.replace("/", "_"), form, members | {f"copy/{name}": members[name]})
        refused(components.load("dataset", {"kind": kind})[0], source, "a second .*train.*; expected one")


def test_a_second_array_in_another_folder_is_refused(tmp_path):
    source = pack(tmp_path / "a", "zip", {"x.npy": npy_file(np.zeros(1)), "copy/x.npy": npy_file(np.ones(1))})
    assert complaint(npy.archived, source, ["x"]).endswith("a second x.npy; expected one")


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
