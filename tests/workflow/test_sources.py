"""A source of several files, downloaded by the workflow from a server on this machine and prepared."""

import hashlib
import io
import shutil
import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import yaml
from scipy.io import savemat

from outagefl.datasets import arrays
from tests.workflow.conftest import two_runs

COUNTS = {"train_32x32.mat": 80, "test_32x32.mat": 20}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Keep the test's output clean."""


def mat(images):
    rng = np.random.default_rng(images)
    buffer = io.BytesIO()
    content = {
        "X": rng.integers(0, 256, (32, 32, 3, images), dtype=np.uint8),
        "y": (np.arange(images) % 10 + 1).astype(np.uint8)[:, np.newaxis],
    }
    savemat(buffer, content, do_compression=True)
    return buffer.getvalue()


@pytest.fixture
def mirror(tmp_path):
    """Address of a server of the two files of SVHN."""
    folder = tmp_path / "served"
    folder.mkdir()
    for name, images in COUNTS.items():
        (folder / name).write_bytes(mat(images))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def svhn(project, mirror):
    """A project that takes SVHN from a mirror that is down, then from the one on this machine."""
    folder, address = mirror
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{closed.getsockname()[1]}"
    file = project.root / "config" / "sources.yaml"
    catalog = yaml.safe_load(file.read_text())
    catalog["svhn"]["files"] = [
        {
            "name": name,
            "urls": [f"{down}/{name}", f"{address}/{name}"],
            "bytes_at_most": 1_000_000,
            "checksum": f"md5:{hashlib.md5((folder / name).read_bytes()).hexdigest()}",
        }
        for name in COUNTS
    ]
    file.write_text(yaml.safe_dump(catalog))
    project.change(two_runs)
    project.change(lambda study: study["setting"].update(dataset="svhn"))
    return project


def test_every_file_is_downloaded_and_the_folder_prepared(svhn):
    svhn.finish("--cores", "2", "--until", "dataset")
    assert sorted(path.name for path in (svhn.root / "resources" / "svhn").iterdir()) == sorted(COUNTS)
    [prepared] = (svhn.root / "results" / "inputs" / "dataset").iterdir()
    data = arrays.load(prepared)
    assert (len(data.y_train), len(data.y_test)) == tuple(COUNTS.values())
    assert np.bincount(data.y_test).tolist() == [2] * 10
    for name in COUNTS:
        log = (svhn.root / "results" / "logs" / "download" / "svhn" / f"{name}.log").read_text()
        assert "gave up" in log
    assert not {"download", "dataset"} & svhn.planned().keys()


def test_a_file_that_no_mirror_has_is_named(svhn, mirror):
    folder, address = mirror
    (folder / "test_32x32.mat").unlink()
    output = svhn.fail("--cores", "2", "--until", "dataset")
    line = next(line for line in output.splitlines() if line.startswith("outagefl: "))
    assert "resources/svhn/test_32x32.mat: no mirror could serve it" in line
    assert f"{address}/test_32x32.mat: 404" in line
    assert "Traceback" not in output
    assert not (svhn.root / "results" / "inputs" / "dataset").exists()
    assert [path.name for path in (svhn.root / "resources" / "svhn").iterdir()] == ["train_32x32.mat"]


def test_a_wrong_file_put_there_by_hand_is_refused_until_it_is_mended(svhn, mirror):
    folder, _ = mirror
    place = svhn.root / "resources" / "svhn"
    shutil.copytree(folder, place)
    (place / "test_32x32.mat").write_bytes(mat(30))
    for config in ("", "offline=True"):
        output = svhn.fail("--cores", "1", "--until", "dataset", config=config)
        [line] = [line for line in output.splitlines() if line.startswith("outagefl: ")]
        assert "resources/svhn/test_32x32.mat: its md5 is" in line
        assert "delete it" in line
        assert not (svhn.root / "results" / "inputs" / "dataset").exists()
    shutil.copy(folder / "test_32x32.mat", place)
    svhn.finish("--cores", "1", "--until", "dataset", config="offline=True")
    [prepared] = (svhn.root / "results" / "inputs" / "dataset").iterdir()
    assert len(arrays.load(prepared).y_test) == COUNTS["test_32x32.mat"]


def test_a_local_folder_replaces_all_files(svhn, mirror):
    folder, _ = mirror
    svhn.finish("--cores", "2", "--until", "dataset", config=f"local={{svhn: {folder}}}")
    assert not (svhn.root / "resources").exists()
    [prepared] = (svhn.root / "results" / "inputs" / "dataset").iterdir()
    assert len(arrays.load(prepared).y_train) == COUNTS["train_32x32.mat"]


def test_offline_a_dry_run_names_every_missing_file_and_is_content_when_they_are_there(svhn, mirror):
    output = svhn.fail("-n", "--until", "dataset", config="offline=True")
    [line] = [line for line in output.splitlines() if line.startswith("outagefl: ")]
    assert "offline: true forbids" in line
    assert ", ".join(f"resources/svhn/{name}" for name in COUNTS) in line
    assert "Building DAG" not in output
    shutil.copytree(mirror[0], svhn.root / "resources" / "svhn")
    assert svhn.planned("--until", "dataset", config="offline=True") == {"dataset": 1}
