"""Check an archive of results (``outagefl.provenance.archive``) as it is; nothing of it is unpacked to disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile
from zipfile import Path as ZipPath

from outagefl.errors import DataError
from outagefl.provenance.check import ADDITIONAL, DAMAGED, EDITED, MISSING, REFUSED, Check, Finding
from outagefl.provenance.manifest import MANIFEST, listed
from outagefl.provenance.records import UNREADABLE, checksum
from outagefl.provenance.tree import Tree


def check_archive(path: Path) -> Check:
    """Check every member against the manifest, and the results against their records and the packed code.

    Raises DataError for a file that is no zip file.
    """
    try:
        archive = ZipFile(path)
    except (OSError, BadZipFile) as error:
        raise DataError(f"{path}: not a zip file that can be read ({error})") from None
    root = ZipPath(archive)
    known, unlisted = _manifest(root)
    check = Check(Tree(root / "results", root), root / "workflow", packed=known)
    refused = [Finding(REFUSED, name, why) for name, why in _refused(archive)]
    found = refused or unlisted or _against_manifest(archive, root, known)
    check.checked |= {each.path: each for each in found}
    if not refused:
        for scale in check.tree.scales():
            check.scale(scale)
    return check


def _refused(archive: ZipFile) -> list[tuple[str, str]]:
    """Members with names that lead elsewhere or that are not the only ones."""
    names = Counter(info.orig_filename for info in archive.infolist())
    odd = [name for name in names if _leads_out(name)]
    twice = [name for name, count in names.items() if count > 1]
    return [(name, "its name leads out of the archive") for name in odd] + [
        (name, "it is there twice") for name in twice
    ]


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name


def _manifest(root: ZipPath) -> tuple[dict[str, str], list[Finding]]:
    """The checksums that an archive lists, and what is wrong with the list."""
    try:
        known = listed(root)
    except DataError as error:
        return {}, [Finding(DAMAGED, MANIFEST, str(error))]
    why = "an archive of results lists the checksums of its members"
    return known, [] if known else [Finding(MISSING, MANIFEST, why)]


def _against_manifest(archive: ZipFile, root: ZipPath, known: Mapping[str, str]) -> list[Finding]:
    names = {name for name in archive.namelist() if not name.endswith("/")}
    found = [Finding(MISSING, name, f"{MANIFEST} lists it") for name in known if name not in names]
    found += [
        Finding(ADDITIONAL, name, f"{MANIFEST} does not list it") for name in sorted(names - known.keys() - {MANIFEST})
    ]
    for name in sorted(names & known.keys()):
        try:
            if checksum(root / name) != known[name]:
                found.append(Finding(EDITED, name, f"its bytes are not those that {MANIFEST} lists"))
        except UNREADABLE as error:
            found.append(Finding(DAMAGED, name, f"it cannot be read ({error})"))
    return found
