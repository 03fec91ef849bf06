"""CIFAR-10 (Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009): 32×32 RGB, ten classes."""

from __future__ import annotations

from pathlib import Path

from outagefl.datasets import array_file, cifar_batches, image_folder
from outagefl.datasets.published import Published, write

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
CIFAR10 = Published("CIFAR-10", CLASSES, (32, 32, 3), train=50_000, test=10_000)
BATCHES = {"train": [f"data_batch_{number}" for number in range(1, 6)], "test": ["test_batch"]}


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source`` to ``folder``: the official archive, class folders or an ``.npz`` file.

    Raises DataError naming ``source`` and what is unfit.
    """
    forms = [cifar_batches.form(BATCHES, b"labels"), image_folder.form(), array_file.FORM]
    write(CIFAR10, forms, source, folder)
