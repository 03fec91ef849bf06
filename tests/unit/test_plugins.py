"""Components of one's own: found, imported and fingerprinted with all they need, refused with their path."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from outagefl import components, fingerprint, plugins
from outagefl.errors import ConfigError

RULE = """
from .helping import half
from outagefl.training.own_constants import SCALE

def scores(view, *, rounds):
    return SCALE * half(view / rounds)
"""
FILES = {
    "rules/gossip/own_rule.py": RULE,
    "rules/gossip/helping.py": "def half(x):\n    return 0.5 ** x\n",
    "rules/gossip/__init__.py": "",
    "training/own_constants.py": "SCALE = 2\n",
    "setup.py": "raise SystemExit\n",
    "tests/test_own.py": "raise SystemExit\n",
}
OWN = {"outagefl.rules.gossip.own_rule", "outagefl.rules.gossip.helping", "outagefl.training.own_constants"}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """No plug-ins but a test's own, and nothing of them left behind."""
    monkeypatch.setenv(plugins.VARIABLE, "")
    yield
    for name in OWN & sys.modules.keys():
        del sys.modules[name]


def test_a_rule_is_found_and_imported_with_what_it_needs(tmp_path):
    plugins.use([str(write(tmp_path / "mine", FILES))])
    assert components.signatures("gossip rule")["own_rule"] == {"rounds": True}
    scores, options = components.load("gossip rule", {"kind": "own_rule", "rounds": 2})
    assert scores(np.array([0.0, 4.0]), **options).tolist() == [2, 0.5]
    assert plugins.modules(tmp_path / "mine") == [
        "rules/gossip/helping.py",
        "rules/gossip/own_rule.py",
        "training/own_constants.py",
    ]


@pytest.mark.parametrize("edited", ["rules/gossip/own_rule.py", "rules/gossip/helping.py", "training/own_constants.py"])
def test_an_edit_of_anything_a_rule_needs_is_seen(tmp_path, edited):
    folders = [write(tmp_path / name, FILES) for name in ("before", "after")]
    file = folders[1] / edited
    file.write_text(file.read_text().replace("2", "3").replace("0.5", "0.25").replace("SCALE *", "SCALE +"))
    found = []
    for folder in folders:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(plugins.VARIABLE, str(folder))
            found.append(fingerprint.closure(["outagefl.rules.gossip.own_rule"]))
    assert found[0].keys() >= OWN
    [name] = [name for name in found[0] if found[0][name] != found[1][name]]
    assert edited == name.removeprefix("outagefl.").replace(".", "/") + ".py"


def test_folders_are_named_from_where_the_workflow_lies(tmp_path):
    mine = write(tmp_path / "mine", FILES)
    (tmp_path / "link").symlink_to(mine)
    plugins.use(["mine", str(mine), "link"], tmp_path)
    assert plugins.folders() == [mine]


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        (
            {"rules/gossip/sfg.py": "def scores(view):\n    return 1\n"},
            "rules/gossip/sfg.py",
            "has a module of this name",
        ),
        ({"rules/gossip/own.py": "def scores(view:\n"}, "rules/gossip/own.py", "not readable as Python"),
        (
            {"rules/gossip/own.py": "def score(view):\n    return 1\n"},
            "rules/gossip/own.py",
            "defines no function 'scores'",
        ),
        (
            {
                "rules/gossip/own.py": "from .bad import x\ndef scores(view):\n    return x\n",
                "rules/gossip/bad.py": "x =",
            },
            "rules/gossip/bad.py",
            "not readable as Python",
        ),
    ],
)
def test_a_module_that_cannot_be_used_is_named(tmp_path, files, path, expected):
    mine = write(tmp_path / "mine", files)
    with pytest.raises(ConfigError) as caught:  # noqa: PT012 (where it is noticed does not matter)
        plugins.use([str(mine)])
        components.check("gossip rule", {"kind": "own"}, "methods.own")
        fingerprint.closure(["outagefl.rules.gossip.own"])
    message = str(caught.value)
    assert f"{mine / path}: " in message
    assert expected in message
    assert "\n" not in message


def test_two_folders_with_a_module_of_one_name_are_refused(tmp_path):
    one, two = (str(write(tmp_path / name, FILES)) for name in ("one", "two"))
    with pytest.raises(ConfigError, match=f"{two}/rules/gossip/helping.py: {one} has a module of this name, too"):
        plugins.use([one, two])


@pytest.mark.parametrize("name", ["nowhere", "a:b"])
def test_a_folder_that_cannot_be_used_is_named(tmp_path, name):
    if name != "nowhere":
        (tmp_path / name).mkdir()
    with pytest.raises(ConfigError, match=f"{tmp_path / name}: expected an existing folder, without ':'"):
        plugins.use([name], tmp_path)
