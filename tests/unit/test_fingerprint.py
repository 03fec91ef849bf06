"""Code fingerprints see what changes a result, nothing else, and all the modules that are really imported."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from outagefl import fingerprint
from outagefl.runs.plan import INPUTS, make_input, run_code
from tests.unit.test_batch import SPEC

SOURCE = '''"""A module."""

LIMIT = 3  # a constant
"""How many."""


def double(x):
    """Twice x."""
    return 2 * x
'''


def digest(path: Path, text: str) -> str:
    path.write_text(text)
    fingerprint._read.cache_clear()
    return fingerprint.fingerprint(scripts=[path])


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        (("A module.", "Another description."), False),
        (("Twice x.", "Two times x."), False),
        (("How many.", "How many there may be."), False),
        (("# a constant", "# THE constant"), False),
        (("2 * x", "2  *  x"), False),
        (("2 * x", "x * 2"), True),
        (("LIMIT = 3", "LIMIT = 4"), True),
    ],
)
def test_only_code_counts(tmp_path, edit, changes):
    before = digest(tmp_path / "m.py", SOURCE)
    after = digest(tmp_path / "m.py", SOURCE.replace(*edit))
    assert (before != after) is changes


def test_fields_that_a_newer_version_of_python_adds_and_nothing_uses_do_not_count(tmp_path, monkeypatch):
    before = digest(tmp_path / "m.py", SOURCE)
    for kind in (ast.FunctionDef, ast.Module):
        monkeypatch.setattr(kind, "_fields", (*kind._fields, "new_list", "new_option"))
        monkeypatch.setattr(kind, "new_list", [], raising=False)
        monkeypatch.setattr(kind, "new_option", None, raising=False)
    assert "new_list" in ast.dump(ast.parse(SOURCE))
    assert digest(tmp_path / "m.py", SOURCE) == before


def test_a_closure_follows_imports_and_parents_but_not_other_components():
    modules = fingerprint.closure(["outagefl.rules.gossip.sfg"])
    assert {"outagefl", "outagefl.rules", "outagefl.rules.gossip", "outagefl.rules.gossip.sfg"} <= modules.keys()
    assert "outagefl.rules.gossip.dfedavg" not in modules
    assert not any(name.startswith("outagefl.analysis") for name in modules)


def test_package_files_import_nothing():
    """An ``__init__`` that imports would tie every run to all the modules of its folder."""
    for path in fingerprint.PACKAGE.rglob("__init__.py"):
        assert not fingerprint._read(path)[1], path


def test_all_modules_loaded_by_a_run_are_in_its_closure(tmp_path):
    """A real run in a fresh process: what it imported must be part of what its address is made from."""
    spec = {**SPEC, "rounds": 2}
    inputs = {what: str(tmp_path / f"{what}{INPUTS[what].suffix}") for what in INPUTS if what in spec}
    for what, place in inputs.items():
        make_input(what, spec, {"dataset": Path(inputs["dataset"])} if what == "partition" else {}, Path(place))
    script = (
        "import sys, pathlib\nfrom outagefl.runs.execute import execute\n"
        f"execute({spec!r}, {{k: pathlib.Path(v) for k, v in {inputs!r}.items()}}, 'cpu', lambda *_: None)\n"
        "print(*(m for m in sys.modules if m.startswith('outagefl')))"
    )
    run = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(fingerprint.PACKAGE.parent)}
    loaded = subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert "outagefl.rules.gossip.sfg" in loaded
    assert set(loaded) <= run_code(spec).keys() | fingerprint.IGNORED


def test_only_what_follows_a_trace_depends_on_the_code_of_traces():
    def trace_code(*modules):
        names = fingerprint.closure(["outagefl.inputs.availabilities", "outagefl.runs.execute", *modules])
        return sorted(name for name in names if "trace" in name)

    assert not trace_code("outagefl.inputs.availability.markov", "outagefl.inputs.availability.smartphone")
    assert trace_code("outagefl.inputs.availability.trace") == [
        "outagefl.inputs.availability.trace",
        "outagefl.inputs.traces",
    ]
