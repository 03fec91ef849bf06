"""Downloads that survive bad networks and never leave a wrong file under the right name.

Built on httpx (redirects, proxies, a timeout for every phase, one exception per fault) and tenacity (retries), because
the usual fetchers of data sets start a cut download again from zero, while here a ``.part`` file is continued by Range
and, whichever mirrors it came from, gets its name only after its size and checksum were found right.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

import httpx
from httpx import codes
from tenacity import (
    RetryCallState,
    Retrying,
    TryAgain,
    retry_if_exception_type,
    retry_if_not_exception_type,
    stop_after_attempt,
    wait_exponential,
)

from outagefl.errors import DataError
from outagefl.sources.verification import confirm, verify

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 60.0
SLOWEST = 1000  # bytes per second, on average over so many seconds; a telephone line brings several times as much
SLOWEST_SECONDS = 60.0
ENVIRONMENT = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")  # httpx heeds


def fetch(
    urls: Sequence[str],
    target: Path,
    *,
    bytes: int | None,
    bytes_at_most: int | None = None,
    checksum: str,
    offline: bool = False,
    attempts: int = 4,
    backoff: float = 1.0,
    timeout: float = 30.0,
) -> None:
    """Download ``target`` from the first of ``urls`` (mirrors, in order) that serves the right content.

    ``bytes`` is the size (None: unknown; then no more than ``bytes_at_most`` are received), ``checksum`` is ``md5:…``,
    ``sha256:…`` or ``git-blob:…``. Each mirror gets ``attempts`` tries, ``backoff``, 2·``backoff``, … seconds apart;
    ``timeout`` (seconds) is the longest silence of a server, and it must not be too slow. Processes that ask for one
    target at once share one download: the others wait. A target that is already there is only checked; a missing one is
    an error when ``offline``.

    Raises DataError naming every URL and its fault, and what to do. What arrived stays in ``<target>.part``, and the
    next call continues there, unless it is damaged.
    """
    if not target.exists():
        if offline:
            raise DataError(f"{target}: missing, and `offline: true` forbids to fetch {urls[0]}; {_remedy(target)}")
        part = target.with_name(target.name + ".part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with _client(timeout) as client, _held_alone(part) as stream:
                if not target.exists():
                    limit = bytes_at_most if bytes is None else bytes
                    complete = partial(_complete, client, stream, part, size=bytes, limit=limit, checksum=checksum)
                    _from_first_mirror(urls, complete, target, attempts, backoff)
                    os.replace(part, target)
        except OSError as error:
            raise DataError(f"{part}: the download failed: {error}") from error
    confirm(target, bytes=bytes, checksum=checksum)


def _client(timeout: float) -> httpx.Client:
    try:
        return httpx.Client(follow_redirects=True, timeout=timeout)
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        variables = [name for name in os.environ if name.upper() in ENVIRONMENT]
        told = " ".join(str(error).split())
        raise DataError(
            f"the network cannot be used as the environment asks ({told}); correct or unset {', '.join(variables)}"
        ) from error


@contextmanager
def _held_alone(part: Path) -> Iterator[BinaryIO]:
    """Open ``part`` for appending, one process at a time; the kernel frees the lock when its holder dies.

    The file is its own lock. Who waited for it may find that the holder has renamed or deleted it: then open it anew.
    """
    while True:
        with open(part, "ab") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                log.info("%s: waiting for another process that downloads it", part)
                fcntl.flock(stream, fcntl.LOCK_EX)
            if not _is_at(stream, part):
                continue
            try:
                yield stream
            finally:
                if _is_at(stream, part) and stream.seek(0, os.SEEK_END) == 0:
                    part.unlink()
            return


def _is_at(stream: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _from_first_mirror(
    urls: Sequence[str], complete: Callable[[str], None], target: Path, attempts: int, backoff: float
) -> None:
    faults = []
    for url in urls:
        retrying = Retrying(
            stop=stop_after_attempt(attempts),
            wait=wait_exponential(multiplier=backoff, max=LONGEST_WAIT_SECONDS),
            retry=retry_if_exception_type((TryAgain, httpx.TransportError))
            & retry_if_not_exception_type(httpx.UnsupportedProtocol),
            before_sleep=_announce_retry,
            reraise=True,
        )
        try:
            retrying(complete, url)
            return
        except (TryAgain, DataError, httpx.HTTPError, httpx.InvalidURL) as error:
            faults.append(f"{url}: {_reason(error)}")
            log.warning("gave up %s", faults[-1])
    raise DataError(f"{target}: no mirror could serve it ({'; '.join(faults)}); try again later, or {_remedy(target)}")


def _remedy(target: Path) -> str:
    return f"set the key `local` for this source to a copy you have (forms: docs/data.md), or put the file at {target}"


def _announce_retry(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.warning("%s: %s; trying again in %.1f s", state.args[0], _reason(error), state.upcoming_sleep)


def _reason(error: BaseException | None) -> str:
    return str(error) or type(error).__name__


def _complete(
    client: httpx.Client,
    stream: BinaryIO,
    part: Path,
    url: str,
    *,
    size: int | None,
    limit: int | None,
    checksum: str,
) -> None:
    """Complete and verify ``part``. TryAgain: a fault that may pass; DataError: this mirror has no such file."""
    resumed_at = stream.seek(0, os.SEEK_END)
    if limit is not None and resumed_at > limit:
        resumed_at = _empty(stream)
    end_was_told = resumed_at == size or _receive(client, stream, url, resumed_at, size, limit)
    try:
        verify(part, bytes=size, checksum=checksum)
    except DataError as error:
        if not end_was_told:
            raise TryAgain(f"ended without a word of its length ({error})") from error
        _empty(stream)
        if resumed_at:
            raise TryAgain(f"continued a damaged part ({error})") from error
        raise


def _empty(stream: BinaryIO) -> int:
    stream.truncate(0)
    return stream.seek(0)


def _receive(client: httpx.Client, stream: BinaryIO, url: str, have: int, size: int | None, limit: int | None) -> bool:
    """Append what comes after the first ``have`` bytes, or write everything anew if the server ignores Range.

    Returns whether the end was told: else the connection may have been cut in the middle.
    """
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", url, headers=headers) as response:
        status = response.status_code
        if status == codes.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            return True  # nothing comes after what is there: complete or damaged, the checksum will tell
        if status in (codes.REQUEST_TIMEOUT, codes.TOO_MANY_REQUESTS) or response.is_server_error:
            raise TryAgain(f"{status} {response.reason_phrase}")
        if status not in (codes.OK, codes.PARTIAL_CONTENT):
            raise DataError(f"{status} {response.reason_phrase}")
        if status == codes.OK:
            have = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            _empty(stream)
            raise TryAgain("sent another range than the one asked for")
        length = response.headers.get("Content-Length")
        total = size if length is None else have + int(length)
        if size is not None and total != size:
            raise DataError(f"offers {total} bytes, expected {size}")
        if limit is not None and total is not None and total > limit:
            raise DataError(f"offers {total} bytes, expected at most {limit}")
        if have == 0:
            _empty(stream)
        _append(stream, response.iter_raw(), have, total, limit, url)
        return total is not None


def _append(
    stream: BinaryIO, chunks: Iterator[bytes], have: int, total: int | None, limit: int | None, url: str
) -> None:
    """Write ``chunks`` after the first ``have`` bytes and report on the way.

    ``total`` is the size in the end, ``limit`` the number of bytes at which to give up.
    """
    received = have
    begun = reported = checked = time.monotonic()
    before = have
    for chunk in chunks:
        received += len(chunk)
        if limit is not None and received > limit:
            _empty(stream)
            raise DataError(f"sends more than {limit} bytes, the most expected")
        stream.write(chunk)
        now = time.monotonic()
        if now - checked >= SLOWEST_SECONDS:
            if received - before < SLOWEST * (now - checked):
                raise TryAgain(f"sends less than {SLOWEST} bytes a second")
            checked, before = now, received
        if now - reported >= PROGRESS_SECONDS:
            reported = now
            share = f" of {total / 1e6:.1f} MB ({received / total:.0%})" if total else " MB"
            log.info("%s: %.1f%s, %.1f MB/s", url, received / 1e6, share, (received - have) / 1e6 / (now - begun))
    stream.flush()
    if total is not None and received < total:
        raise TryAgain(f"ended after {received} of {total} bytes")
    log.info("%s: %.1f MB received in %.1f s", url, (received - have) / 1e6, time.monotonic() - begun)
