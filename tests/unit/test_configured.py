"""What a command is given is laid over the configuration as the workflow does it."""

from pathlib import Path

import pytest

from outagefl.errors import ConfigError
from outagefl.runs.configured import configured, updated

CONFIG = Path(__file__).parents[2] / "config"


def test_mappings_are_laid_over_key_by_key_and_null_is_a_value():
    base = {"a": {"b": {"c": 1}, "d": 2}, "e": None}
    given = {"a": {"b": {"c": None, "f+": [1]}}, "e": {}, "g": 3}
    assert updated(base, given) == {"a": {"b": {"c": None, "f+": [1]}, "d": 2}, "e": {}, "g": 3}


def test_a_source_without_a_path_is_refused():
    with pytest.raises(ConfigError, match=r"local\.cifar10 /x: None is not .*<source>: <path>, with a space"):
        configured({"local": {"cifar10 /x": None}}, CONFIG)
