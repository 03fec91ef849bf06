"""Damaged and forged files of every kind: read, or refused with an error that names them; nothing else gets out."""

from __future__ import annotations

import io
import pickle
import random
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from outagefl import components
from outagefl.datasets import arrays
from outagefl.datasets.decoding import decode
from outagefl.errors import DataError, InputError
from outagefl.inputs import traces
from outagefl.sources import archive, mat
from tests.unit.archives import complaint, encode, noise, npz

CUSTOM = {"trace": {"kind": "custom", "slot_minutes": 30, "days": 2}}
FEDSCALE = {"trace": {"kind": "fedscale", "slot_minutes": 1}}
CIFAR10 = {"dataset": {"kind": "cifar10"}}
INTERVALS = {"device": np.array(["a", "b"]), "start": np.zeros(2), "end": np.ones(2)}


def all_members(source: Path) -> None:
    for _ in archive.members(source, lambda _: True):
        pass


def trace(spec: dict[str, Any]) -> Callable[[Path], None]:
    return lambda source: traces.create(spec, {"source": source}, source.with_name("trace.npz"))


def images(source: Path) -> None:
    arrays.create(CIFAR10, {"source": source}, source.with_name("prepared"))


def matrices(source: Path) -> None:
    mat.load(source.read_bytes(), str(source), ("X", "y"))


def picture(source: Path) -> None:
    decode(source.read_bytes(), str(source), (4, 4, 3))


def zipped(name: str = "train/cat/é1.png") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, b"x" * 50)
        file.writestr("test/dog/1.png", b"y" * 50)
    return buffer.getvalue()


def tarred(mode: str, **pax: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, format=tarfile.PAX_FORMAT) as file:
        for name in (f"train/cat/é{'x' * 120}.png", "test/dog/1.png"):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.pax_headers = 50, 1.5, pax
            file.addfile(info, io.BytesIO(b"z" * 50))
    return buffer.getvalue()


def matlab(*, compressed: bool) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, {"X": np.zeros((1, 2), np.uint8), "y": np.uint8([[1], [2]])}, do_compression=compressed)
    return buffer.getvalue()


CLIENT = {"duration": 1, "inactive": [10, 20], "finish_time": 100, "active": [1, 15], "model": "x"}
KINDS: dict[str, tuple[Callable[[Path], None], bytes]] = {
    "zip": (all_members, zipped()),
    "tar": (all_members, tarred("w")),
    "tar.gz": (all_members, tarred("w:gz")),
    "tar.xz": (all_members, tarred("w:xz")),
    "trace.npz": (trace(CUSTOM), npz(**INTERVALS)),
    "trace.pkl": (trace(FEDSCALE), pickle.dumps({1: CLIENT, 2: dict(CLIENT)}, 2)),
    "mat": (matrices, matlab(compressed=False)),
    "packed.mat": (matrices, matlab(compressed=True)),
    "png": (picture, encode(noise(4, 4, 3))),
    "jpg": (picture, encode(noise(4, 4, 3), "JPEG")),
}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, perhaps some put in and the end cut off."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    if rng.random() < 0.1:
        place = rng.randrange(len(changed))
        changed[place:place] = rng.randbytes(rng.randint(1, 9))
    return bytes(changed[: rng.randrange(len(changed))] if rng.random() < 0.15 else changed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_named(tmp_path, kind):
    read, content = KINDS[kind]
    source, rng = tmp_path / f"a.{kind}", random.Random(kind)
    source.write_bytes(content)
    read(source)
    refused = 0
    for _ in range(300):
        source.write_bytes(damaged(content, rng))
        message = complaint(read, source)
        assert message is None or message.startswith(str(source))
        refused += message is not None
    assert refused > 30


def chunk(name: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


PARTS = {f"{what}_{part}": np.zeros((1, 32, 32, 3)[: 4 if what == "x" else 1], np.uint8)
         for what in "xy" for part in ("train", "test")}  # fmt: skip
NO_FLAGS = element(6, b"") + element(5, struct.pack("<ii", 1, 1)) + element(1, b"X") + element(2, b"1")


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (all_members, zipped().replace("é".encode(), b"\xff\xfe")),
        (all_members, zipped("q.png").replace(b"q.png", b"\0.png")),
        (all_members, tarred("w", comment="x" * 30).replace(b" comment=" + b"x" * 25, b"9" * 30 + b" c=x")),
        (trace(CUSTOM), zipped().replace("é".encode(), b"\xff\xfe")),
        (trace(CUSTOM), npz(**INTERVALS | {"device": np.frombuffer(b"\xff" * 8, "<U1")})),
        (images, npz(**PARTS, classes=np.array(5))),
        (images, npz(**PARTS, classes=np.frombuffer(b"\xff" * 40, "<U1"))),
        (matrices, matlab(compressed=False)[:128] + element(14, NO_FLAGS)),
        (picture, encode(noise(4, 4, 3)).replace(chunk(b"IEND"), chunk(b"iCCP") + chunk(b"IEND"))),
    ],
    ids=[
        "zip name",
        "zip without a name",
        "length in a tar",
        "npz name",
        "letter in an npz",
        "classes in an npz",
        "letter of a class",
        "flags in a mat",
        "profile of a png",
    ],
)
def test_a_forged_file_is_named(tmp_path, read, content):
    source = tmp_path / "a"
    source.write_bytes(content)
    assert str(complaint(read, source)).startswith(str(source))


# --- the boundary: for what no reader foresees -----------------------------------------------------------------------

CREATE = {"dataset": arrays.create, "trace": traces.create}


@pytest.mark.parametrize("family", CREATE)
@pytest.mark.parametrize("error", [IndexError, OverflowError, SystemError, RecursionError, UnicodeError])
def test_any_fault_of_a_reader_names_the_source(tmp_path, monkeypatch, family, error):
    def read(*_: Any) -> None:
        raise error("some\nthing")

    monkeypatch.setattr(components, "load", lambda *_: (read, {}))
    with pytest.raises(DataError, match=rf"^{tmp_path}/a: .*\({error.__name__}: some thing\)$") as caught:
        CREATE[family]({family: {}}, {"source": tmp_path / "a"}, tmp_path / "b")
    assert isinstance(caught.value.__cause__, error)


@pytest.mark.parametrize("family", CREATE)
@pytest.mark.parametrize("error", [InputError("x"), MemoryError("x"), OSError(28, "disk full")], ids=repr)
def test_errors_of_settings_and_of_the_machine_pass(tmp_path, monkeypatch, family, error):
    def read(*_: Any) -> None:
        raise error

    monkeypatch.setattr(components, "load", lambda *_: (read, {}))
    with pytest.raises(type(error)) as caught:
        CREATE[family]({family: {}}, {"source": tmp_path / "a"}, tmp_path / "b")
    assert caught.value is error
