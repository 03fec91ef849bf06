"""Files that jobs of a killed workflow left behind, though Snakemake does not know that they were finished.

Snakemake (9.27) makes such a file again. Of all that depends on it, it then overlooks what does so through a file that
is there and ``ancient``, whatever is still to be done: it would end early, and without an error.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from contextlib import suppress
from pathlib import Path

from outagefl.runs.plan import Plan


def in_doubt(plan: Plan, root: Path, snakemake: Path = Path(".snakemake")) -> set[str]:
    """The files left behind and the planned inputs made from them, below ``root``; paths as rules have them."""
    left = _left_behind(snakemake / "incomplete")

    def doubtful(path: str) -> bool:
        if str(root / path) in left:
            return True
        if (made := plan.inputs.get(path)) is None:
            return False
        files = plan.sources[made.source].paths if made.source else []
        return any(str(file) in left for file in files) or any(map(doubtful, made.needs.values()))

    return left | {str(root / path) for path in plan.inputs if left and doubtful(path)}


def _left_behind(markers: Path) -> set[str]:
    """The existing files that Snakemake has marked as unfinished: names in base64, long ones divided into folders."""
    names = set()
    for marker in markers.rglob("*"):
        with suppress(ValueError):  # not one of Snakemake's, but a network file system's
            parts = (part.removeprefix("@") for part in marker.relative_to(markers).parts)
            names.add(urlsafe_b64decode("".join(parts)).decode())
    return {name for name in names if name and "\0" not in name and Path(name).exists()}
