"""Every source that is downloaded, in its true format: from a server on this machine to the prepared input."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from outagefl.datasets import arrays
from outagefl.inputs import traces
from outagefl.runs.plan import INPUTS, make_input
from outagefl.sources.catalog import sources
from outagefl.sources.download import fetch
from tests.unit import test_datasets as cifar10
from tests.unit.archives import pack
from tests.unit.mirrors import Mirror, mirrors
from tests.unit.test_datasets_cifar100 import FINE, cifar100_archive
from tests.unit.test_datasets_cinic10 import cinic10_archive
from tests.unit.test_datasets_emnist import CHARACTERS, emnist_archive
from tests.unit.test_datasets_femnist import parquet, rows
from tests.unit.test_datasets_svhn import svhn_files
from tests.unit.test_trace_formats import WINDOW, messages, write_events

CATALOG = Path(__file__).parents[2] / "config" / "sources.yaml"
DOWNLOADED = {name: source.entry["files"] for name, source in sources(CATALOG, {}).items() if source.downloads}

Files = dict[str, bytes]


def archive(form: str, members: Files) -> Callable[[Path, str], Files]:
    return lambda folder, name: {name: pack(folder / name, form, members).read_bytes()}


def femnist(folder: Path, name: str) -> Files:
    return {name: parquet(folder / name, rows([3, 4, 5])).read_bytes()}


def flash_matrix(_: Path, name: str) -> Files:
    buffer = io.BytesIO()
    np.save(buffer, np.repeat([[1, np.nan, 0]], 241, axis=0))
    return {name: buffer.getvalue()}


def flash_events(folder: Path, name: str) -> Files:
    text = messages((0, "screen_off"), (0, "battery_charged_on"), (0, "wifi"), (59, "4G"), (90, "5.0%"))
    return {name: write_events(folder / name, a=text, b=messages((-5, "screen_on"), (90, "4.0%"))).read_bytes()}


def fedscale(_: Path, name: str) -> Files:
    client = {"duration": 7200, "active": [0], "inactive": [3599], "finish_time": 7200, "model": "x"}
    return {name: pickle.dumps({1: client, 2: client | {"active": [3600], "inactive": [7199]}}, 2)}


# source → what it is, its options, what its files hold, and the test labels or states that are to come out
SERVED: dict[str, tuple[str, dict[str, Any], Callable[[Path, str], Files], Any]] = {
    "cifar10": ("dataset", {}, archive("tar.gz", cifar10.official()), [7, 8]),
    "cifar100": ("dataset", {}, archive("tar.gz", cifar100_archive()), FINE["test"]),
    "emnist": ("dataset", {}, archive("zip", emnist_archive()), CHARACTERS["test"]),
    "svhn": ("dataset", {}, lambda *_: svhn_files(), [0, 1, 5]),
    "cinic10": ("dataset", {}, archive("tar.gz", cinic10_archive()), np.repeat(range(10), 2).tolist()),
    "femnist": ("dataset", {"test_share": 0.1}, femnist, 3),
    "flash_matrix": ("trace", {}, flash_matrix, [[1, -1, 0]] * 241),
    "flash_events": (
        "trace",
        {**WINDOW, "days": 1 / 12, "clock_tolerance_seconds": 0},
        flash_events,
        [[1, 0], [1, 0], [0, 0], [0, 0]],
    ),
    "fedscale": ("trace", {"slot_minutes": 30}, fedscale, [[1, 0], [1, 0], [0, 1], [0, 1]]),
}  # fmt: skip


def digest(checksum: str, content: bytes) -> str:
    """The checksum of a content, of the kind of a published one."""
    algorithm = checksum.partition(":")[0]
    if algorithm == "git-blob":
        return f"git-blob:{hashlib.sha1(b'blob %d' % len(content) + bytes(1) + content).hexdigest()}"
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def catalog_of(files: Files, kind: str, start: Callable[..., Mirror], path: Path) -> Path:
    """The catalog, with the addresses of servers that break off once, sizes and checksums of these files."""
    catalog = yaml.safe_load(CATALOG.read_text())
    for file in catalog[kind]["files"]:
        content = files[file["name"]]
        file["urls"] = [start("cut", content=content).url]
        file["checksum"] = digest(file["checksum"], content)
        if "bytes" in file:
            file["bytes"] = len(content)
    path.write_text(yaml.safe_dump(catalog))
    return path


@pytest.mark.parametrize("kind", DOWNLOADED)
def test_every_source_goes_from_a_server_to_an_input(tmp_path, monkeypatch, kind):
    what, options, content, expected = SERVED[kind]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir()
    files = content(tmp_path / "made", DOWNLOADED[kind][0]["name"])
    with mirrors() as start:
        source = sources(catalog_of(files, kind, start, tmp_path / "sources.yaml"), {})[kind]
        for path, file in zip(source.paths, source.downloads.values(), strict=True):
            limits = {"bytes": file.get("bytes"), "bytes_at_most": file.get("bytes_at_most")}
            fetch(file["urls"], path, **limits, checksum=file["checksum"], backoff=0.001)
    target = tmp_path / f"input{INPUTS[what].suffix}"
    needs = {"source": Path(os.path.commonpath(source.paths))}
    make_input(what, {what: {"kind": kind, **options}}, needs, target)
    if what == "trace":
        assert traces.load(target).state.tolist() == expected
    else:
        labels = arrays.load(target).y_test.tolist()
        assert (len(labels) if isinstance(expected, int) else labels) == expected


def test_all_kinds_of_checksum_are_served():
    kinds = {file["checksum"].partition(":")[0] for files in DOWNLOADED.values() for file in files}
    assert kinds == {"md5", "sha256", "git-blob"}
