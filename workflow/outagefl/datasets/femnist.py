"""FEMNIST (Caldas et al., LEAF: A Benchmark for Federated Settings, 2018): 28×28 grey, 62 classes, by writer.

Read from the parquet edition of Flower Labs, https://huggingface.co/datasets/flwrlabs/femnist: 814,277 images with the
columns ``image`` (struct of ``bytes``, a PNG, and ``path``), ``writer_id``, ``hsf_id`` (the part of the collection,
not used) and ``character`` (0–61: digits, capitals, small letters). Pixels are kept as they are there.

LEAF's own way to the images (https://github.com/TalwalkarLab/leaf, data/femnist), not taken here because it means to
unpack more than a million small files: NIST Special Database 19 holds every character twice, by class
(``by_class.zip``) and by writer (``by_write.zip``). LEAF joins the two by the MD5 of the image files, groups by writer,
and shrinks the images of 128×128 to 28×28 grey; a writer's images are then divided at random, nine tenths for training.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from outagefl.datasets import arrays
from outagefl.datasets.decoding import decode
from outagefl.errors import DataError
from outagefl.randomness import generator
from outagefl.sources import archive

CLASSES = tuple(string.digits + string.ascii_uppercase + string.ascii_lowercase)
SHAPE = (28, 28, 1)
IMAGES = 814_277
BATCH = 1000  # rows in memory at a time


def prepare(source: Path, folder: Path, *, test_share: float) -> None:
    """Write the images of ``source``, a parquet file or a folder of them, with their writers to ``folder``.

    There is no published test part: ``test_share`` of every writer's images, but at least one and never all, are drawn
    for it, always the same. Raises DataError naming the file and what is unfit.
    """
    shards = sorted(source.glob("*.parquet")) if source.is_dir() else [source]
    if not shards:
        raise DataError(f"{source}: holds no *.parquet")
    for shard in shards:
        _check_promises(shard)
    names, writer = np.unique(_whole(shards, "writer_id", pa.string()).astype(str), return_inverse=True)
    labels = _whole(shards, "character", pa.int64())
    if not 0 <= labels.min() <= labels.max() < len(CLASSES):
        raise DataError(f"{source}: column character goes from {labels.min()} to {labels.max()}, expected 0 to 61")
    test = held_out(writer, test_share, generator(0, "femnist test split"))
    if not test.any():
        raise DataError(f"{source}: no writer has two images, so that one could be held out")
    train_images, test_images = _images(shards, test)
    arrays.save(
        folder,
        "FEMNIST",
        (train_images, labels[~test]),
        (test_images, labels[test]),
        classes=CLASSES,
        writers=arrays.Writers(tuple(names.tolist()), writer[~test], writer[test]),
        note="" if len(test) == IMAGES else f"not the whole data set: {len(test)} of {IMAGES} images",
    )


def held_out(writer: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which images (n,) are the test part: of every writer's ``share``, but at least one and never all."""
    shuffled = rng.permutation(len(writer))
    by_writer = shuffled[np.argsort(writer[shuffled], kind="stable")]
    counts = np.bincount(writer)
    rank = np.arange(len(writer)) - np.repeat(np.cumsum(counts) - counts, counts)
    quota = np.minimum(np.maximum(np.rint(share * counts), 1), counts - 1)
    test = np.empty(len(writer), dtype=bool)
    test[by_writer] = rank < np.repeat(quota, counts)
    return test


def _images(shards: list[Path], test: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Decode all images, each straight to its place in the training or the test part."""
    parts = tuple(np.empty((count, *SHAPE), dtype=np.uint8) for count in ((~test).sum(), test.sum()))
    place = np.where(test, np.cumsum(test), np.cumsum(~test)) - 1
    encoded = (
        (shard, content)
        for shard in shards
        for column in _column(shard, "image.bytes", pa.binary())
        for content in column.to_pylist()
    )
    for row, (shard, content) in enumerate(encoded):
        parts[int(test[row])][place[row]] = decode(content, f"{shard}: image {row}", SHAPE).pixels
    return parts[0], parts[1]


def _whole(shards: list[Path], name: str, kind: pa.DataType) -> NDArray[Any]:
    columns = [column for shard in shards for column in _column(shard, name, kind)]
    values: NDArray[Any] = pa.chunked_array(columns, kind).to_numpy()
    return values


def _column(shard: Path, name: str, kind: pa.DataType) -> Iterator[pa.Array]:
    """Read a column batch by batch; ``image.bytes`` is the field of a struct."""
    with _faults_named(shard), pq.ParquetFile(shard) as file:
        missing = file.metadata.num_rows
        for batch in file.iter_batches(BATCH, columns=[name]):
            if not batch.num_columns:
                raise DataError(f"{shard}: has no column {name}")
            column = batch.column(0).flatten()[0] if "." in name else batch.column(0)
            missing -= len(column)
            if column.null_count or missing < 0:
                raise DataError(f"{shard}: column {name} has {'gaps' if column.null_count else 'too many rows'}")
            column = column.cast(kind)
            column.validate(full=True)
            yield column
        if missing:
            raise DataError(f"{shard}: column {name} lacks {missing} rows")


def _check_promises(shard: Path) -> None:
    """Refuse a bomb before anything is unpacked."""
    with _faults_named(shard):
        metadata = pq.read_metadata(shard)
    if not metadata.num_rows:
        raise DataError(f"{shard}: holds no images")
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if max(unpacked, metadata.num_rows * SHAPE[0] * SHAPE[1]) > archive.allowance(shard.stat().st_size):
        raise DataError(f"{shard}: promises {metadata.num_rows} images in {unpacked} bytes, too many for its size")


@contextmanager
def _faults_named(shard: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:  # a damaged file can also raise a UnicodeDecodeError
        raise DataError(
            f"{shard}: missing, damaged or not such a parquet file: {' '.join(str(error).split())}"
        ) from error
