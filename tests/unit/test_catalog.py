"""The catalog of sources: what it says of downloads, local paths and bundled data."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
import yaml
from torchvision.datasets import CIFAR10, CIFAR100, EMNIST, SVHN

from outagefl import components
from outagefl.commands.run import run_spec
from outagefl.config import check
from outagefl.errors import ConfigError, DataError
from outagefl.files import checksum
from outagefl.sources.catalog import Source, sources, without_paths
from tests.unit.mirrors import CONTENT, SHA256

CATALOG = Path(__file__).parents[2] / "config" / "sources.yaml"


TORCHVISION = {
    "cifar10": [(CIFAR10.url, CIFAR10.tgz_md5)],
    "cifar100": [(CIFAR100.url, CIFAR100.tgz_md5)],
    "emnist": [(EMNIST.url, EMNIST.md5)],
    "svhn": [(SVHN.split_list[part][0], SVHN.split_list[part][2]) for part in ("train", "test")],
}


def test_the_catalog_is_valid_and_agrees_with_torchvision():
    catalog = yaml.safe_load(CATALOG.read_text())
    check(catalog, "sources", str(CATALOG))
    for source, expected in TORCHVISION.items():
        assert [(file["urls"][0], file["checksum"]) for file in catalog[source]["files"]] == [
            (url, f"md5:{digest}") for url, digest in expected
        ]
        assert [file["name"] for file in catalog[source]["files"]] == [url.split("/")[-1] for url, _ in expected]


def test_every_data_set_has_a_source():
    assert components.signatures("dataset").keys() <= yaml.safe_load(CATALOG.read_text()).keys()


def test_a_source_of_several_files_is_all_of_them(tmp_path):
    source = sources(CATALOG, {})["svhn"]
    names = ["train_32x32.mat", "test_32x32.mat"]
    assert list(source.downloads) == names
    assert source.paths == [Path("resources", "svhn", name) for name in names]
    assert all(file["checksum"] in source.identity for file in source.entry["files"])
    (tmp_path / "svhn").mkdir()
    local = sources(CATALOG, {"svhn": str(tmp_path / "svhn")})["svhn"]
    assert (local.downloads, local.paths) == ({}, [tmp_path / "svhn"])


def test_a_local_path_for_bundled_data_is_refused():
    with pytest.raises(ConfigError, match="local: digits: /data/my would not be read"):
        sources(CATALOG, {"digits": "/data/my"})


def test_a_local_path_may_begin_with_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    local = {"svhn": "~/svhn", "cifar10": "~nobody-here/a.tar", "custom": "a/~/b"}
    assert [sources(CATALOG, local)[name].local for name in local] == [
        tmp_path / "svhn",
        Path("~nobody-here/a.tar"),
        Path("a/~/b"),
    ]


@pytest.mark.parametrize("place", ["fifo", "socket", "closed", "x" * 400, "a\0b", "closed/inside"])
def test_a_local_path_that_cannot_be_read_is_told(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("closed").write_bytes(CONTENT)
    Path("closed").chmod(0)
    if place == "closed" and os.access("closed", os.R_OK):
        pytest.skip("this user may read everything")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        with pytest.raises(DataError, match=r"^config: local: .*(neither a file nor a folder|cannot be read|no such)"):
            sources(CATALOG, {"svhn": place})["svhn"].identity  # noqa: B018


@pytest.mark.parametrize("remembered", ["", "{", "[]", "7", '{"PATH": 7}', '{"PATH": []}', '{"PATH": [1, 2]}', "\xff"])
def test_damaged_memory_of_checksums_is_made_anew(tmp_path, monkeypatch, remembered):
    monkeypatch.chdir(tmp_path)
    local = tmp_path / "a.zip"
    local.write_bytes(CONTENT)
    cache = Path("results/.cache/checksums.json")
    cache.parent.mkdir(parents=True)
    cache.write_text(remembered.replace("PATH", str(local)), encoding="latin-1")
    assert sources(CATALOG, {"svhn": str(local)})["svhn"].identity == SHA256
    assert json.loads(cache.read_text())[str(local)][1] == SHA256.removeprefix("sha256:")


def test_bundled_data_need_nothing():
    bundled = sources(CATALOG, {})["digits"]
    assert (bundled.downloads, bundled.paths, bundled.identity) == ({}, [], "bundled")
    assert [name for name, source in sources(CATALOG, {}).items() if source.bundled] == ["digits"]


def test_a_single_run_needs_a_source_unless_its_data_are_bundled(tmp_path):
    spec = {"availability": {"trace": {"kind": "custom"}}}
    with pytest.raises(ConfigError, match="--source: the dataset 'svhn' is not bundled"):
        run_spec(spec | {"dataset": {"kind": "svhn"}}, None, None, tmp_path, "cpu")
    with pytest.raises(ConfigError, match="--trace: the trace 'custom' is not bundled"):
        run_spec(spec | {"dataset": {"kind": "digits"}}, None, None, tmp_path, "cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"licens": "x"}, "unknown key 'licens'; did you mean 'licence'"),
        ({"bundled": True}, "cifar10"),
        ({"files": []}, "files"),
        ({"files": [{"name": "a/b", "urls": ["https://x.org"], "bytes": 1, "checksum": SHA256}]}, "without folders"),
        ({"files": [{"name": "a", "urls": ["ftp://x.org"], "bytes": 1, "checksum": SHA256}]}, "https://"),
        ({"files": [{"name": "a", "urls": ["https://x.org"], "bytes": 1, "checksum": "md5:1"}]}, "lower-case hex"),
        ({"files": [{"name": "a", "urls": ["https://x.org"], "bytes": 0, "checksum": SHA256}]}, "size of the file"),
        ({"files": [{"name": "a", "urls": ["https://x.org"], "checksum": SHA256}]}, "either bytes or bytes_at_most"),
    ],
)
def test_a_mistake_in_the_catalog_is_named(change, message):
    catalog = yaml.safe_load(CATALOG.read_text())
    catalog["cifar10"] |= change
    with pytest.raises(ConfigError, match=r"sources\.yaml: cifar10") as caught:
        check(catalog, "sources", "sources.yaml")
    assert message in str(caught.value)


def test_a_configuration_that_is_written_down_tells_what_local_sources_hold_not_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.npz"
    path.write_bytes(b"images")
    local = {"cifar10": str(path), "emnist": "/data/other"}
    planned = {"cifar10": Source("cifar10", {}, path)}
    told = without_paths({"scale": "quick", "local": local}, planned)
    assert told == {"scale": "quick", "local": {"cifar10": f"sha256:{checksum(path)}", "emnist": "not used"}}
