"""Small archives in their true formats, whole and malicious, for tests of the data sets."""

from __future__ import annotations

import gzip
import io
import lzma
import pickle
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from outagefl import components
from outagefl.datasets import arrays
from outagefl.errors import DataError

FORMATS = ["folder", "tar", "tar.gz", "tar.xz", "zip"]


def encode(image: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind)
    return buffer.getvalue()


def pack(path: Path, form: str, members: dict[str, bytes]) -> Path:
    """Write an archive whose members come in no order."""
    names = random.Random(0).sample(sorted(members), len(members))
    if form == "folder":
        for name in names:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(members[name])
    elif form == "zip":
        with zipfile.ZipFile(path, "w") as file:
            for name in names:
                file.writestr(name, members[name])
    else:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as file:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = len(members[name])
                file.addfile(info, io.BytesIO(members[name]))
        compress: dict[str, Callable[[bytes], bytes]] = {"tar": bytes, "tar.gz": gzip.compress, "tar.xz": lzma.compress}
        path.write_bytes(compress[form](buffer.getvalue()))
    return path


def prepared(kind: str, source: Path, folder: Path) -> arrays.ImageData:
    prepare, options = components.load("dataset", {"kind": kind})
    prepare(source, folder, **options)
    return arrays.load(folder)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def npz(**content: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **content)
    return buffer.getvalue()


def npz_at(path: Path, **content: np.ndarray) -> Path:
    path.write_bytes(npz(**content))
    return path


def complaint(function: Callable[..., Any], *arguments: Any) -> str | None:
    """What a function complains about, if anything."""
    try:
        function(*arguments)
    except DataError as error:
        return str(error)
    return None


def refused(prepare: Callable[[Path, Path], None], source: Path, message: str) -> None:
    """Preparation fails in one line that names the source, and leaves nothing."""
    folder = source.parent / "prepared" / "set"
    with pytest.raises(DataError, match=message) as caught:
        prepare(source, folder)
    assert str(source) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not folder.parent.exists() or not list(folder.parent.iterdir())


class Python2Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes text and bytes as Python 2 wrote its strings, as in the official files."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def save_string(self, text: str | bytes) -> None:
        content = text.encode() if isinstance(text, str) else text
        self.write(pickle.BINSTRING + len(content).to_bytes(4, "little") + content)
        self.memoize(text)

    dispatch[str] = dispatch[bytes] = save_string


def python2_pickle(content: Any) -> bytes:
    buffer = io.BytesIO()
    Python2Pickler(buffer, protocol=2).dump(content)
    return buffer.getvalue().replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")


class Malicious:
    """Unpickled by the standard reader, it would run a command."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call
