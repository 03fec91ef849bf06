"""CINIC-10 (Darlow et al., CINIC-10 Is Not ImageNet or CIFAR-10, 2018): 32×32 RGB, the ten classes of CIFAR-10.

The archive has three parts of 90,000 images, ``train``, ``valid`` and ``test``. FedSWE's "90,000 / 90,000" is read as
``train`` and ``test``, as the authors of CINIC-10 suggest; ``valid`` is left out.
"""

from __future__ import annotations

from pathlib import Path

from outagefl.datasets import array_file, image_folder
from outagefl.datasets.cifar10 import CLASSES
from outagefl.datasets.published import Published, write

CINIC10 = Published("CINIC-10", CLASSES, (32, 32, 3), train=90_000, test=90_000)


def prepare(source: Path, folder: Path) -> None:
    """Write the images of ``source`` to ``folder``: the official archive, other class folders or an ``.npz`` file.

    Images from ImageNet that are not RGB (some are grey) are converted, and the note says how many. Raises DataError
    naming ``source`` and what is unfit.
    """
    write(CINIC10, [image_folder.form("L", "LA", "P", "RGBA"), array_file.FORM], source, folder)
