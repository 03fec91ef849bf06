"""Servers on this machine that misbehave in every way seen on the net."""

from __future__ import annotations

import hashlib
import itertools
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CONTENT = random.Random(0).randbytes(300_000)
OTHER = random.Random(1).randbytes(300_000)
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()
REDIRECTS = {"/moved": "/file", "/local": "file:///etc/hostname"}


class Mirror(ThreadingHTTPServer):
    """Serves one content; each request takes the next of ``faults``: a status code, or a name used in ``Handler``."""

    daemon_threads = True

    def __init__(self, content: bytes, faults: Iterable[int | str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.faults = content, iter(faults)
        self.ranges: list[str | None] = []
        self.sent = self.redirects = 0
        self.release = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/file"


class Handler(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        if self.path in REDIRECTS:
            self.server.redirects += 1
            self.send_response(302)
            self.send_header("Location", REDIRECTS[self.path])
            self.end_headers()
            return
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        fault = next(self.server.faults, None)
        if fault == "late 404":
            self.server.release.wait()
            fault = 404
        if isinstance(fault, int):
            self.send_error(fault)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and fault != "ignores range" else 0
        if start >= len(self.server.content):
            self.send_error(416)
            return
        if fault == "sends another range":
            start //= 2
        body = self.server.content[start:]
        self.send_response(206 if start else 200)
        if start:
            end, total = len(self.server.content) - 1, len(self.server.content)
            self.send_header("Content-Range", f"bytes {start}-{end}/{total}")
        if fault not in ("cut without length", "too long without length"):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "too long without length":
            body += OTHER
        if fault in ("cut", "cut without length"):
            body = body[: len(body) // 2]
        if fault == "stall":
            self.write(body[: len(body) // 2])
            self.server.release.wait()
            body = body[len(body) // 2 :]
        if fault == "drip":
            for place in range(10, len(body) // 2, 10):
                self.write(body[place - 10 : place])
                if self.server.release.wait(0.02):
                    break
            return
        self.write(body)

    def write(self, body: bytes) -> None:
        self.server.sent += len(body)  # first: the client may have it all before this thread goes on
        try:
            self.wfile.write(body)
        except OSError:
            self.server.sent -= len(body)  # the client has gone, as some tests want

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""


@contextmanager
def mirrors() -> Iterator[Callable[..., Mirror]]:
    """Yield what makes a running server: ``start(*faults, content=CONTENT)``."""
    running = []

    def start(*faults: int | str, content: bytes = CONTENT, always: bool = False) -> Mirror:
        server = Mirror(content, itertools.repeat(faults[0]) if always else faults)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        running.append(server)
        return server

    try:
        yield start
    finally:
        for server in running:
            server.release.set()
            server.shutdown()
            server.server_close()
