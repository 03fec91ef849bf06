"""Tables of traces as files."""

from __future__ import annotations

import gzip


def write_text(path, text, packed=False):
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path
