"""FEMNIST from tiny parquet files in the form of its published edition, and what is wrong with others."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from outagefl import components
from outagefl.datasets import arrays, femnist
from outagefl.errors import DataError
from tests.unit import archives
from tests.unit.archives import complaint, encode

WRITERS = ["f0000_14", "f0001_41", "f3999_08"]
prepare = partial(femnist.prepare, test_share=0.1)
refused = partial(archives.refused, prepare)


def picture(row: int) -> np.ndarray:
    """Some image that tells its row."""
    image = np.random.default_rng(row).integers(0, 256, (28, 28), dtype=np.uint8)
    image[0, :2] = divmod(row, 256)
    return image


def rows(counts: list[int], start: int = 0) -> dict[str, list[Any]]:
    """Columns of images of the three writers, mixed."""
    writers = np.random.default_rng(start).permutation(np.repeat(WRITERS, counts))
    numbers = range(start, start + len(writers))
    return {
        "image": [{"bytes": encode(picture(row)), "path": f"{row}.png"} for row in numbers],
        "writer_id": writers.tolist(),
        "hsf_id": [row % 8 for row in numbers],
        "character": [row % 62 for row in numbers],
    }


def parquet(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=7, **options)
    return path


def prepared(source: Path, folder: Path, share: float = 0.1) -> arrays.ImageData:
    function, options = components.load("dataset", {"kind": "femnist", "test_share": share})
    function(source, folder, **options)
    return arrays.load(folder)


def row_numbers(images: np.ndarray) -> list[int]:
    return (images[:, 0, 0, 0].astype(int) * 256 + images[:, 0, 1, 0]).tolist()


def test_every_image_keeps_its_label_and_writer(tmp_path):
    columns = rows([20, 30, 50])
    data = prepared(parquet(tmp_path / "train.parquet", columns), tmp_path / "p")
    assert data.writers is not None
    assert data.writers.names == tuple(WRITERS)
    seen = []
    for x, y, w in (
        (data.x_train, data.y_train, data.writers.train),
        (data.x_test, data.y_test, data.writers.test),
    ):
        numbers = row_numbers(x)
        assert numbers == sorted(numbers)
        assert_array_equal(x[..., 0], [picture(row) for row in numbers])
        assert_array_equal(y, [columns["character"][row] for row in numbers])
        assert [WRITERS[writer] for writer in w] == [columns["writer_id"][row] for row in numbers]
        assert w.dtype == np.int64
        seen += numbers
    assert sorted(seen) == list(range(100))
    assert np.bincount(data.writers.test).tolist() == [2, 3, 5]
    assert (len(data.classes), data.classes[10], data.classes[36]) == (62, "A", "a")
    assert data.note == "not the whole data set: 100 of 814277 images"


def test_the_test_part_is_always_the_same_and_its_size_an_option(tmp_path):
    source = parquet(tmp_path / "train.parquet", rows([20, 30, 50]))
    first, second, half = (
        prepared(source, tmp_path / name, share) for name, share in zip("abc", (0.1, 0.1, 0.5), strict=True)
    )
    assert_array_equal(first.x_test, second.x_test)
    assert half.writers is not None
    assert np.bincount(half.writers.test).tolist() == [10, 15, 25]


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=20),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**32),
)
def test_every_writer_with_two_images_has_both_parts(counts, share, seed):
    rng = np.random.default_rng(seed)
    writer = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    test = femnist.held_out(writer, share, rng)
    for number, count in enumerate(counts):
        held = int(test[writer == number].sum())
        assert abs(held - share * count) <= 1
        assert (1 <= held < count) if count > 1 else held == 0


def test_a_folder_of_shards_is_one_data_set(tmp_path):
    whole, second = rows([5, 6, 7]), rows([4, 3, 2], start=18)
    folder = tmp_path / "shards"
    parquet(folder / "train-00001-of-00002.parquet", second)
    parquet(folder / "train-00000-of-00002.parquet", whole)
    (folder / "README.md").write_text("not a shard")
    data = prepared(folder, tmp_path / "p")
    assert sorted(row_numbers(data.x_train) + row_numbers(data.x_test)) == list(range(27))
    assert row_numbers(data.x_train) == sorted(row_numbers(data.x_train))


def changed(**columns: Any) -> dict[str, Any]:
    return rows([3, 3, 3]) | columns


def without(column: str) -> dict[str, Any]:
    columns = rows([3, 3, 3])
    columns.pop(column)
    return columns


def pictures(last: bytes | None) -> list[dict[str, Any]]:
    return [*rows([3, 3, 2])["image"], {"bytes": last, "path": "x.png"}]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (rows([1, 1, 1]), "no writer has two images, so that one could be held out"),
        (without("image"), "has no column image.bytes"),
        (without("writer_id"), "has no column writer_id"),
        (without("character"), "has no column character"),
        (changed(image=[b"PNG"] * 9), "has no column image.bytes"),
        (changed(image=pictures(None)), "column image.bytes has gaps"),
        (changed(image=[*rows([3, 3, 2])["image"], None]), "column image.bytes has gaps"),
        (changed(writer_id=[*"abcdefgh", None]), "column writer_id has gaps"),
        (changed(character=["A"] * 9), "not such a parquet file"),
        (changed(character=[*range(8), 62]), "column character goes from 0 to 62, expected 0 to 61"),
        (changed(character=[-1, *range(8)]), "column character goes from -1 to 7, expected 0 to 61"),
        (changed(image=pictures(b"not an image")), "image 8: neither PNG nor JPEG"),
        (changed(image=pictures(encode(picture(8))[:-100])), "image 8: cannot be decoded"),
        (changed(image=pictures(encode(picture(8)[1:]))), r"image 8: L of \(28, 27\), expected L of \(28, 28\)"),
        (changed(image=pictures(encode(np.zeros((28, 28, 3), np.uint8)))), r"image 8: RGB of \(28, 28\), expected L"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_unfit_columns_are_refused(tmp_path, columns, message):
    refused(parquet(tmp_path / "train.parquet", columns), message)


@given(share=st.floats(0.0, 1.0, exclude_max=True))
@settings(max_examples=15)
def test_a_truncated_file_is_refused(tmp_path_factory, share):
    source = parquet(tmp_path_factory.mktemp("cut") / "train.parquet", rows([3, 3, 3]))
    os.truncate(source, int(share * source.stat().st_size))
    refused(source, "missing, damaged or not such a parquet file")


@given(place=st.floats(0.0, 1.0, exclude_max=True), value=st.integers(0, 255))
@settings(max_examples=60)
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, place, value):
    folder = tmp_path_factory.mktemp("damaged")
    source = parquet(folder / "train.parquet", rows([3, 3, 3]))
    content = bytearray(source.read_bytes())
    content[int(place * len(content))] = value
    source.write_bytes(content)
    message = complaint(prepare, source, folder / "p")
    assert message is None or message.startswith(str(source))


def test_a_file_without_rows_is_refused(tmp_path):
    table = pa.table(rows([1, 1, 1])).slice(0, 0)
    pq.write_table(table, tmp_path / "train.parquet")
    refused(tmp_path / "train.parquet", "holds no images")


def test_a_missing_file_and_an_empty_folder_are_named(tmp_path):
    refused(tmp_path / "nowhere.parquet", "missing, damaged")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"holds no \*\.parquet")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    """One image, packed a hundred thousand times into a few bytes."""
    count = 100_000
    image = pa.StructArray.from_arrays(
        [pa.array([encode(picture(0))] * count), pa.array(["x"] * count)], ["bytes", "path"]
    )
    columns = {"image": image, "writer_id": ["a"] * count, "hsf_id": [0] * count, "character": [0] * count}
    source = tmp_path / "train.parquet"
    pq.write_table(pa.table(columns), source, compression="zstd")
    monkeypatch.setattr(femnist, "_column", lambda *_: pytest.fail("a column was read"))
    refused(source, "promises 100000 images in .* too many for its size")


def test_writers_that_do_not_fit_are_refused(tmp_path):
    split = (np.zeros((2, 2, 2, 1), np.uint8), np.array([0, 1]))
    for train, message in (([0, 2], "from 0 to 2, expected 0 to 1"), ([0], r"are int64 of shape \(1,\)")):
        writers = arrays.Writers(("a", "b"), np.array(train), np.array([0, 1]))
        with pytest.raises(DataError, match=f"x, training images: writers {message}"):
            arrays.save(tmp_path / "set", "x", split, split, classes=["a", "b"], writers=writers)
    assert not list(tmp_path.iterdir())


def test_a_data_set_without_writers_says_so(tmp_path):
    split = (np.zeros((2, 2, 2, 1), np.uint8), np.array([0, 1]))
    arrays.save(tmp_path / "set", "x", split, split, classes=["a", "b"])
    assert arrays.load(tmp_path / "set").writers is None
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == [
        "info.json",
        *(f"{letter}_{part}.npy" for letter in "xy" for part in ("test", "train")),
    ]
