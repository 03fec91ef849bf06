"""The Makefile: what is given to it arrives at Snakemake and at the commands beside it."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["reproduce", "describe", "report", "dry-run", "why", "estimate", "costs"])
@pytest.mark.parametrize("path", ["/data/a.csv", "/data/a, b.csv", "/data/a: b.csv", "/data/it's {1}.csv", "~/a b.csv"])
def test_a_local_path_arrives_as_it_is(target, path):
    command = ["make", "--dry-run", target, f'LOCAL=custom: "{path}"', "DESCRIBE=custom, 'svhn'"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [shlex.split(line) for line in printed.splitlines() if " --config " in line]
    assert lines
    for words in lines:
        given = dict(word.split("=", 1) for word in words[words.index("--config") + 1 :] if "=" in word)
        assert yaml.safe_load(given["local"]) == {"custom": path}
        assert yaml.safe_load(given["describe"]) == ["custom", "svhn"]


def test_orphans_are_looked_for_with_the_settings_given():
    command = ["make", "--dry-run", "orphans", "SCALE=laptop", 'LOCAL=custom: "/data/a b.csv"', "ARGS=--remove"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    words = next(shlex.split(line) for line in printed.splitlines() if " orphans " in line)
    *options, local = words[words.index("orphans") + 1 :]
    assert options == ["--remove", "--config", "scale=laptop"]
    assert yaml.safe_load(local.removeprefix("local=")) == {"custom": "/data/a b.csv"}
