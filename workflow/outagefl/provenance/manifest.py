"""The list of what an archive of results holds, with checksums as ``sha256sum`` writes them."""

from __future__ import annotations

from importlib.resources.abc import Traversable

from outagefl.errors import DataError
from outagefl.provenance.records import UNREADABLE

MANIFEST = "SHA256SUMS"


def listed(root: Traversable) -> dict[str, str]:
    """Path → checksum of all that an archive, or the folder it was unpacked to, was made with; empty for others.

    Raises DataError for a file of that name that is no such list.
    """
    if not (file := root.joinpath(MANIFEST)).is_file():
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return {name: digest for digest, name in (line.split("  ", maxsplit=1) for line in lines)}
    except (*UNREADABLE, ValueError) as error:
        raise DataError(f"{MANIFEST}: not a list of checksums ({error})") from None
