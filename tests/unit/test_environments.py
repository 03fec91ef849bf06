"""The conda environments pin what the lock pins."""

import re
from pathlib import Path

import pytest
import yaml

ENVS = Path(__file__).parents[2] / "envs"


def locked() -> dict[str, set[str]]:
    pins: dict[str, set[str]] = {}
    for line in (ENVS / "requirements.lock").read_text().splitlines():
        name, version = re.match(r"([^=\s]+)==(\S+)", line).groups()
        pins.setdefault(name, set()).add(version)
    return pins


@pytest.mark.parametrize("file", sorted(ENVS.glob("*.yaml")), ids=lambda path: path.name)
def test_pins_are_those_of_the_lock(file):
    [packages] = [entry["pip"] for entry in yaml.safe_load(file.read_text())["dependencies"] if isinstance(entry, dict)]
    for package in packages:
        name, version = package.split("==")
        assert version in locked()[name], package
