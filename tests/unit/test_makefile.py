"""The Makefile: what is given to it arrives at Snakemake and at the commands beside it."""

from __future__ import annotations

import shlex
import shutil
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


@pytest.mark.parametrize("cores", ["0", "-1"])
@pytest.mark.parametrize("target", ["reproduce", "describe", "report"])
def test_no_cores_are_refused_before_anything_waits_for_them(target, cores):
    command = ["make", "--dry-run", target, f"CORES={cores}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"CORES={cores}: expected all or a number above 0" in done.stderr


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("SCALE=my scale", "SCALE=my scale: expected the name of one scale"),
        ("SCALE=", "SCALE=: expected the name of one scale"),
        ("TARGET=sfg outages", "TARGET=sfg outages: expected one file or experiment"),
    ],
)
def test_what_is_no_single_name_is_refused(given, told):
    done = subprocess.run(["make", "--dry-run", "why", given], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert told in done.stderr


def test_where_no_tests_were_packed_make_test_says_so(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    done = subprocess.run(["make", "test"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stdout.startswith("There is no tests/")


def test_orphans_are_looked_for_with_the_settings_given():
    command = ["make", "--dry-run", "orphans", "SCALE=laptop", 'LOCAL=custom: "/data/a b.csv"', "ARGS=--remove"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    words = next(shlex.split(line) for line in printed.splitlines() if " orphans " in line)
    *options, local = words[words.index("orphans") + 1 :]
    assert options == ["--remove", "--config", "scale=laptop"]
    assert yaml.safe_load(local.removeprefix("local=")) == {"custom": "/data/a b.csv"}
