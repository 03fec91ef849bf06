"""The cluster that the tests of this folder share."""

import os
from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, obstacle


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A running cluster; where there can be none the test is skipped with the reason, but never in CI."""
    if reason := obstacle():
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    cluster = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
