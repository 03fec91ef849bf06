"""CIFAR-100 (Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009): 32×32 RGB, 100 fine classes."""

from __future__ import annotations

from pathlib import Path

from outagefl.datasets import array_file, cifar_batches, image_folder
from outagefl.datasets.published import Published, write

NAMES = """
    apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
    caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant
    flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree
    motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate
    poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider
    squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle
    wardrobe whale willow_tree wolf woman worm
"""
CLASSES = tuple(NAMES.split())
CIFAR100 = Published("CIFAR-100", CLASSES, (32, 32, 3), train=50_000, test=10_000)
BATCHES = {"train": ["train"], "test": ["test"]}


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source`` to ``folder``: the official archive, class folders or an ``.npz`` file.

    Labels are the fine ones. Raises DataError naming ``source`` and what is unfit.
    """
    forms = [cifar_batches.form(BATCHES, b"fine_labels"), image_folder.form(), array_file.FORM]
    write(CIFAR100, forms, source, folder)
