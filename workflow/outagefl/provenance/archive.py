"""Pack the results of a scale, and all that is needed to judge and repeat them, into one zip file.

It has the layout of a workflow's folder, so that it can be read as it is, or unpacked and worked in: results, runs,
choices, records, configuration, code and lock files. Partitions, graphs and the like are packed on request, data that
came from elsewhere never. ``SHA256SUMS`` (for ``sha256sum -c``) covers every other member; ``ro-crate-metadata.json``
describes them as a research object. The same results give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import yaml

from outagefl.config import read_yaml
from outagefl.errors import DataError
from outagefl.files import replacing
from outagefl.plugins import folders, modules
from outagefl.provenance.crate import METADATA, PREVIEW, Member, describe, preview
from outagefl.provenance.manifest import MANIFEST
from outagefl.provenance.tree import Tree

CODE = (
    *("Makefile", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml"),
    *("config", "docs", "envs", "profiles/default", "report", "workflow"),
)
OTHER_RESULTS = "docs/evidence/"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold
BINARY = {".parquet", ".png", ".pdf", ".npy", ".npz"}

Content = Traversable | bytes


def pack(results: Path, scale: str, project: Path, target: Path, *, with_inputs: bool) -> None:
    """Write the archive of a scale; it appears complete or not at all.

    Raises DataError for a run with a bad record, and for a text that tells a path of this machine.
    """
    tree = Tree(results, project)
    contents: dict[str, Content] = dict(_files(tree, scale, with_inputs))
    for path in [path for path in contents if path.startswith("config/")]:
        if path.endswith(".yaml"):
            contents[path] = _without_local(project / path)
        elif not path.endswith((".csv", ".md")):
            del contents[path]  # such as what an editor leaves
    private = [folder for folder in (project.resolve(), _home()) if folder != folder.parent]
    for path, content in contents.items():
        _require_no_path(path, content, private)
    members = {path: _member(content) for path, content in sorted(contents.items())}
    contents[METADATA] = describe(tree, scale, members)
    contents[PREVIEW] = preview(tree, scale, members)
    members |= {path: _member(contents[path]) for path in (METADATA, PREVIEW)}
    contents[MANIFEST] = "".join(f"{members[path].sha256}  {path}\n" for path in sorted(members)).encode()
    with replacing(target) as new, ZipFile(new, "w") as archive:
        for path, content in sorted(contents.items()):
            info = ZipInfo(path, EPOCH)
            info.create_system, info.external_attr, info.compress_type = 3, 0o644 << 16, ZIP_DEFLATED
            with _stream(content) as source, archive.open(info, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed)


def _files(tree: Tree, scale: str, with_inputs: bool) -> Iterator[tuple[str, Content]]:
    """What is packed as it is."""
    paths = {*tree.files(f"results/{scale}")}
    for path in tree.behind(tree.made(scale)):
        if record := tree.record_file(path):
            paths.add(record)
        if not path.startswith("results/inputs/") or (with_inputs and not _is_from_elsewhere(tree, path)):
            paths.update(tree.files(path) if tree.at(path).is_dir() else [path])
    for path in CODE:
        found = tree.files(path) if tree.at(path).is_dir() else [path]
        paths.update(file for file in found if not file.startswith(OTHER_RESULTS))
    for folder in folders():
        yield from ((f"workflow/outagefl/{name}", folder / name) for name in modules(folder))
    for path in paths:
        if tree.at(path).is_file() and "__pycache__" not in path:
            yield path, tree.at(path)


def _is_from_elsewhere(tree: Tree, path: str) -> bool:
    """Whether an input is data of somebody else in another form."""
    record = tree.record(path)
    return record is None or not all(source.startswith("results/") for source in record.inputs)


def _home() -> Path:
    """The user's folder; the root where there is none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _without_local(file: Path) -> bytes:
    """A configuration as it stands; where it has local paths, without them and without comments.

    Plug-ins, too, are no longer elsewhere: they are packed among the code of the package.
    """
    content = read_yaml(file)
    if not content.get("local") and not content.get("plugins"):
        return file.read_bytes()
    left_out = {**content, "local": {}, "plugins": []}
    return yaml.safe_dump(left_out, sort_keys=False, allow_unicode=True).encode()


def _require_no_path(path: str, content: Content, private: list[Path]) -> None:
    if path[path.rfind(".") :] not in BINARY:
        text = content if isinstance(content, bytes) else content.read_bytes()
        if told := next((str(each) for each in private if f"{each}/".encode() in text), None):
            raise DataError(f"{path}: tells the path {told} of this machine; an archive is to be given to others")


def _stream(content: Content) -> IO[bytes]:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def _member(content: Content) -> Member:
    with _stream(content) as stream:
        return Member(hashlib.file_digest(stream, "sha256").hexdigest(), stream.tell())  # type: ignore[arg-type]
