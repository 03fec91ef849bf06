"""Clients that are writers: whose images they hold, and data sets that cannot be divided so."""

from __future__ import annotations

import numpy as np
import pytest

from outagefl.datasets import arrays
from outagefl.engines.checks import check_partition
from outagefl.errors import InputError
from outagefl.inputs import partitions
from outagefl.inputs.partition.by_writer import split
from tests.unit.test_datasets_femnist import parquet, prepared, rows

NAMES = ("ann", "bob", "cyd", "dan")


def data_of(train, test, names=NAMES):
    """Blank images of the writers with these numbers; the labels count from 0 and begin again after 9."""
    labels = [np.arange(len(split)) % 10 for split in (train, test)]
    images = [np.zeros((len(split), 1, 1, 1), np.uint8) for split in (train, test)]
    writers = arrays.Writers(names, np.array(train, np.int64), np.array(test, np.int64))
    classes = tuple("0123456789")
    return arrays.ImageData(images[0], labels[0], images[1], labels[1], classes, (0.0,), (1.0,), "", writers)


def draw(data, clients, seed=0, min_images=2):
    return split(data, clients, np.random.default_rng(seed), min_images=min_images)


def test_each_client_holds_all_images_of_one_writer_and_no_two_the_same(tmp_path):
    data = prepared(parquet(tmp_path / "train.parquet", rows([20, 30, 50])), tmp_path / "femnist")
    spec = {"partition": {"kind": "by_writer", "min_images": 20}, "clients": 2, "seed": 1}
    partitions.create(spec, {"dataset": tmp_path / "femnist"}, tmp_path / "partition.npz")
    partition = partitions.load(tmp_path / "partition.npz")
    check_partition(partition, data, 2, own_test=True)
    drawn = [data.writers.train[own[0]] for own in partition.train]
    assert sorted(drawn) == [1, 2]  # the first writer has 18 training images
    for client, writer in enumerate(drawn):
        assert partition.train[client].tolist() == np.flatnonzero(data.writers.train == writer).tolist()
        assert partition.test[client].tolist() == np.flatnonzero(data.writers.test == writer).tolist()
        assert (
            partition.held[client].tolist() == np.bincount(data.y_train[partition.train[client]], minlength=62).tolist()
        )


def test_a_seed_determines_who_is_drawn_and_all_seeds_together_draw_everyone_eligible():
    data = data_of([0] * 5 + [1] + [2] * 2 + [3] * 9, [0, 1, 2, 3])
    first = [draw(data, 2, seed).train for seed in range(20)]
    again = [draw(data, 2, seed).train for seed in range(20)]
    assert all(
        np.array_equal(a, b) for one, other in zip(first, again, strict=True) for a, b in zip(one, other, strict=True)
    )
    assert {int(data.writers.train[own[0]]) for train in first for own in train} == {0, 2, 3}


@pytest.mark.parametrize(
    ("data", "clients", "min_images", "message"),
    [
        (
            data_of([0, 0, 1, 1, 2], [0, 1, 2]),
            3,
            2,
            r"clients: 3 is more than the 2 of 4 writers with at least 2 training",
        ),
        (data_of([0, 0, 1, 1], [0]), 2, 2, "writer bob has no test image"),
        (data_of([0, 0], [0]), 1, 0, "partition.min_images: 0 is not a whole number of at least 1"),
        (data_of([0, 0], [0]), 1, 1.5, "partition.min_images: 1.5"),
    ],
)
def test_writers_that_cannot_be_clients_are_told(data, clients, min_images, message):
    with pytest.raises(InputError, match=message):
        draw(data, clients, min_images=min_images)


def test_a_data_set_without_writers_is_refused(tmp_path):
    images = (np.zeros((4, 2, 2, 1), np.uint8), np.array([0, 1, 0, 1]))
    arrays.save(tmp_path / "data", "toy", images, images, classes=["a", "b"])
    spec = {"partition": {"kind": "by_writer", "min_images": 1}, "clients": 2, "seed": 0}
    with pytest.raises(InputError, match="the data set does not know who wrote its images; femnist does"):
        partitions.create(spec, {"dataset": tmp_path / "data"}, tmp_path / "partition.npz")
