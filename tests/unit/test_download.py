"""Downloads from a real server on this machine that misbehaves in every way seen on the net."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import outagefl
from outagefl.errors import DataError
from outagefl.sources import download
from tests.unit.mirrors import CONTENT, OTHER, SHA256, Mirror, mirrors

HALF = len(CONTENT) // 2


@pytest.fixture
def mirror() -> Iterator[Callable[..., Mirror]]:
    with mirrors() as start:
        yield start


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "raw" / "file.tar.gz"


def fetch(target: Path, *mirrors: Mirror | str, size: int | None = len(CONTENT), **options: Any) -> None:
    urls = [m if isinstance(m, str) else m.url for m in mirrors]
    download.fetch(urls, target, bytes=size, **{"checksum": SHA256, "backoff": 0.001, "timeout": 5.0} | options)


def part(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def only_file(target: Path) -> bool:
    return target.read_bytes() == CONTENT and list(target.parent.iterdir()) == [target]


def nothing(target: Path) -> bool:
    return list(target.parent.iterdir()) == []


@pytest.mark.parametrize("size", [len(CONTENT), None])
@pytest.mark.parametrize(
    "faults",
    [
        [],
        [503],
        [500, 429, 408],
        ["cut"],
        ["cut", "cut", "cut"],
        ["cut", "ignores range"],
        ["cut", "sends another range"],
        ["cut", 503, "cut"],
    ],
    ids=str,
)
def test_passing_faults_are_survived(mirror, target, faults, size):
    fetch(target, mirror(*faults), size=size)
    assert only_file(target)


def test_a_cut_download_continues_where_it_stopped(mirror, target):
    server = mirror("cut")
    fetch(target, server)
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert server.sent == len(CONTENT)


def test_a_body_that_ends_early_without_announced_length_is_continued(mirror, target):
    server = mirror("cut without length")
    fetch(target, server)
    assert only_file(target)
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_stalled_connection_is_given_up_and_continued(mirror, target):
    server = mirror("stall")
    fetch(target, server, timeout=2)
    assert only_file(target)
    assert len(server.ranges) == 2


def test_a_body_that_ends_early_is_continued_though_no_length_is_known(mirror, target):
    server = mirror("cut without length")
    fetch(target, server, size=None)
    assert only_file(target)
    assert server.ranges == [None, f"bytes={HALF}-"]


def test_a_server_that_drips_is_given_up_and_continued(mirror, target, monkeypatch):
    monkeypatch.setattr(download, "SLOWEST_SECONDS", 0.2)
    monkeypatch.setattr(download, "SLOWEST", 10_000)
    server = mirror("drip")
    fetch(target, server)
    assert only_file(target)
    assert len(server.ranges) == 2
    assert server.ranges[1] is not None


def test_redirects_are_followed(mirror, target):
    fetch(target, mirror().url.replace("/file", "/moved"))
    assert only_file(target)


def test_a_redirect_out_of_the_web_is_not_tried_again(mirror, target):
    server = mirror()
    with pytest.raises(DataError, match=r"Request URL has an unsupported protocol 'file://'"):
        fetch(target, server.url.replace("/file", "/local"))
    assert server.redirects == 1


@pytest.mark.parametrize("status", [403, 404, 410, 416])
def test_a_mirror_without_the_file_is_asked_once(mirror, target, status):
    without, good = mirror(status, always=True), mirror()
    fetch(target, without, good)
    assert only_file(target)
    assert len(without.ranges) == 1


def test_a_mirror_that_is_down_is_skipped(mirror, target):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{closed.getsockname()[1]}/file"
    fetch(target, down, mirror())
    assert only_file(target)


def test_the_next_mirror_continues_the_part_of_the_one_before(mirror, target):
    first, second = mirror("cut", 503, 503, 503), mirror()
    fetch(target, first, second)
    assert only_file(target)
    assert second.ranges == [f"bytes={HALF}-"]


def test_wrong_content_never_gets_the_name(mirror, target):
    with pytest.raises(DataError, match="its sha256 is"):
        fetch(target, mirror(content=OTHER))
    assert nothing(target)
    fetch(target, mirror(content=OTHER), mirror())
    assert only_file(target)


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x"], ids=["short", "long"])
def test_a_file_of_another_size_is_refused_before_it_is_received(mirror, target, content):
    server = mirror(content=content)
    with pytest.raises(DataError, match=rf"offers {len(content)} bytes, expected {len(CONTENT)}"):
        fetch(target, server)
    assert nothing(target)
    assert len(server.ranges) == 1


def test_an_endless_body_is_not_received_to_its_end(mirror, target):
    with pytest.raises(DataError, match="sends more than 300000 bytes, the most expected"):
        fetch(target, mirror("too long without length"))
    assert nothing(target)


def test_a_file_of_unknown_size_is_received_up_to_a_limit(mirror, target):
    with pytest.raises(DataError, match=r"file: offers 300000 bytes, expected at most 299999.*`local`"):
        fetch(target, mirror(), size=None, bytes_at_most=len(CONTENT) - 1)
    assert nothing(target)
    server = mirror("too long without length", "too long without length")
    with pytest.raises(DataError, match=r"file: sends more than 400000 bytes, the most expected"):
        fetch(target, server, size=None, bytes_at_most=400_000)
    assert nothing(target)
    assert len(server.ranges) == 1
    fetch(target, mirror(), size=None, bytes_at_most=len(CONTENT))
    assert only_file(target)


def test_a_part_beyond_the_limit_is_thrown_away(mirror, target):
    target.parent.mkdir()
    part(target).write_bytes(CONTENT + OTHER)
    server = mirror()
    fetch(target, server, size=None, bytes_at_most=len(CONTENT))
    assert only_file(target)
    assert server.ranges == [None]


def test_a_mirror_with_another_file_does_not_spoil_the_part(mirror, target):
    target.parent.mkdir()
    part(target).write_bytes(CONTENT[:HALF])
    good = mirror()
    fetch(target, mirror(content=OTHER + OTHER), good)
    assert good.ranges == [f"bytes={HALF}-"]


@pytest.mark.parametrize(
    "left",
    [OTHER[:1000], OTHER, CONTENT + b"more", OTHER[:-1] + b"x"],
    ids=["damaged", "complete but wrong", "too long", "wrong end"],
)
@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_a_damaged_part_is_thrown_away(mirror, target, left, size):
    target.parent.mkdir()
    part(target).write_bytes(left)
    fetch(target, mirror(), size=size)
    assert only_file(target)


@pytest.mark.parametrize(("size", "requests"), [(len(CONTENT), []), (None, [f"bytes={len(CONTENT)}-"])])
def test_a_complete_part_is_not_downloaded_again(mirror, target, size, requests):
    target.parent.mkdir()
    part(target).write_bytes(CONTENT)
    server = mirror()
    fetch(target, server, size=size)
    assert only_file(target)
    assert server.ranges == requests
    assert server.sent == 0


def test_failure_names_every_mirror_its_fault_and_the_remedy(mirror, target):
    missing, broken, wrong = mirror(404), mirror(503, always=True), mirror(content=OTHER)
    with pytest.raises(DataError) as caught:
        fetch(target, missing, broken, wrong, "no-scheme.org/file")
    message = str(caught.value)
    for part_of_it in (
        f"{missing.url}: 404 Not Found",
        f"{broken.url}: 503 Service Unavailable",
        f"{wrong.url}: ",
        "expected " + SHA256.removeprefix("sha256:"),
        "no-scheme.org/file: Request URL is missing",
        "`local`",
        f"put the file at {target}",
    ):
        assert part_of_it in message
    assert "\n" not in message
    assert len(broken.ranges) == 4
    assert nothing(target)


def test_a_failed_download_keeps_what_it_got(mirror, target):
    with pytest.raises(DataError, match="503"):
        fetch(target, mirror("cut", 503, 503, 503))
    assert not target.exists()
    assert part(target).read_bytes() == CONTENT[:HALF]


def test_waiting_times_double(mirror, target, caplog):
    caplog.set_level(logging.WARNING)
    fetch(target, mirror(503, 503, 503), backoff=0.01)
    waits = [record.args[2] for record in caplog.records]
    assert waits == pytest.approx([0.01, 0.02, 0.04])


@pytest.mark.parametrize(
    "checksum",
    [
        "md5:b1946ac92492d2347c6235b4d2611184",
        "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        "git-blob:ce013625030ba8dba906f756967f9e9ca394464a",
    ],
)
def test_all_kinds_of_checksum(mirror, target, checksum):
    """The published digests of the text ``hello`` and a line end."""
    fetch(target, mirror(content=b"hello\n"), size=6, checksum=checksum)
    assert target.read_bytes() == b"hello\n"
    with pytest.raises(DataError, match=checksum.partition(":")[0]):
        fetch(target.with_name("other"), mirror(content=b"Hello\n"), size=6, checksum=checksum)


def test_a_file_that_is_there_is_checked_and_not_fetched(mirror, target):
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    server = mirror()
    fetch(target, server)
    assert server.ranges == []
    target.write_bytes(OTHER)
    with pytest.raises(DataError, match="delete it to have it downloaded again"):
        fetch(target, server)


def test_offline_never_touches_the_network(mirror, target):
    server = mirror()
    with pytest.raises(DataError, match=rf"file.tar.gz: missing, and `offline: true` .*{server.url}.*`local`"):
        fetch(target, server, offline=True)
    assert server.ranges == []
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    fetch(target, server, offline=True)


def test_a_folder_that_cannot_be_written_is_named(mirror, tmp_path):
    (tmp_path / "raw").write_text("a file where a folder should be")
    with pytest.raises(DataError, match=r"raw/file\.part: the download failed: .*exists"):
        fetch(tmp_path / "raw" / "file", mirror())


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", r"pip install httpx\[socks\]"),
        ("HTTP_PROXY", "foo://me:secret@127.0.0.1:9", "scheme"),
        ("http_proxy", "http://[::1", "IPv6|port"),
        ("SSL_CERT_FILE", "/absent", "No such file"),
    ],
)
def test_an_environment_that_cannot_be_followed_is_told(mirror, target, monkeypatch, variable, value, message):
    for name in list(os.environ):
        if name.upper() in download.ENVIRONMENT:
            monkeypatch.delenv(name)
    monkeypatch.setenv(variable, value)
    with pytest.raises(DataError, match=rf"^the network .*({message}).*; correct or unset {variable}$") as caught:
        fetch(target, mirror())
    assert "secret" not in str(caught.value)
    assert nothing(target)


def test_progress_is_reported(mirror, target, caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger="outagefl")
    monkeypatch.setattr(download, "PROGRESS_SECONDS", 0.0)
    server = mirror()
    fetch(target, server)
    assert f"{server.url}: 0.3 of 0.3 MB (100%), " in caplog.text
    assert "MB/s" in caplog.text


@contextmanager
def in_other_process(target: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    """Run the same download in another process, with its log on stderr."""
    script = (
        "import logging, pathlib; logging.basicConfig(level='INFO'); from outagefl.sources.download import fetch; "
        f"fetch([{url!r}], pathlib.Path({str(target)!r}), bytes={len(CONTENT)}, checksum={SHA256!r})"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(outagefl.__file__).parents[1])}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def received(target: Path) -> int:
    return part(target).stat().st_size if part(target).exists() else 0


def test_two_processes_share_one_download(mirror, target):
    server = mirror("stall")
    with in_other_process(target, server.url) as first:
        wait_for(lambda: received(target) > 0)
        with in_other_process(target, server.url) as second:
            assert second.stderr is not None
            assert "waiting for another process" in second.stderr.readline()
            server.release.set()
            assert first.wait(20) == second.wait(20) == 0
    assert server.ranges == [None]
    assert only_file(target)


def test_a_killed_download_is_continued_by_the_next_call(mirror, target):
    server = mirror("stall")
    with in_other_process(target, server.url) as process:
        wait_for(lambda: received(target) > HALF - 20_000)
        process.kill()
    kept = received(target)
    before = server.sent
    fetch(target, server)
    assert only_file(target)
    assert server.ranges == [None, f"bytes={kept}-"]
    assert server.sent - before == len(CONTENT) - kept


def test_the_waiting_process_takes_over_from_a_killed_one(mirror, target):
    server = mirror("stall")
    with in_other_process(target, server.url) as first:
        wait_for(lambda: received(target) > HALF - 20_000)
        with in_other_process(target, server.url) as second:
            assert second.stderr is not None
            assert "waiting for another process" in second.stderr.readline()
            first.kill()
            assert second.wait(20) == 0
    assert only_file(target)
    assert server.ranges[1] is not None


def test_the_waiting_process_tries_itself_when_the_first_fails_with_nothing(mirror, target):
    server = mirror("late 404")
    with in_other_process(target, server.url) as first:
        wait_for(lambda: len(server.ranges) == 1)
        with in_other_process(target, server.url) as second:
            assert second.stderr is not None
            assert "waiting for another process" in second.stderr.readline()
            server.release.set()
            assert first.wait(20) != 0
            assert second.wait(20) == 0
    assert only_file(target)
