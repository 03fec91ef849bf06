"""Who holds what: the clients' images by class, as bubbles (after Figure 14 of the FedSWE paper)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from outagefl.analysis import style
from outagefl.datasets.arrays import ImageData
from outagefl.inputs.partitions import Partition, label_counts

CLIENTS = 50  # clients shown; of more, the first
MANY = 20  # classes; rows of more are set closer
LARGEST = 180  # area of the largest bubble, points²


def client_counts(partition: Partition, data: ImageData) -> pd.DataFrame:
    """A row a client: columns client, train, test (images), classes (met in training), largest_share (of a class)."""
    counts = label_counts(partition.train, data.y_train, len(data.classes))
    train = counts.sum(axis=1)
    return pd.DataFrame(
        {
            "client": np.arange(len(train)),
            "train": train,
            "test": [len(own) for own in partition.test],
            "classes": (counts > 0).sum(axis=1),
            "largest_share": counts.max(axis=1) / train,
        }
    )


def bubbles(partition: Partition, data: ImageData) -> Figure:
    """One column a client, one row a class; a bubble's area is in proportion to the client's images of that class."""
    counts = label_counts(partition.train[:CLIENTS], data.y_train, len(data.classes))
    clients, classes = np.nonzero(counts)
    held = counts[clients, classes]
    with style.theme():
        row = 0.25 if len(data.classes) <= MANY else 0.17
        figure = Figure(figsize=(style.WIDTH, 1.3 + row * len(data.classes)), layout="constrained")
        axes = figure.subplots()
        scale = LARGEST / counts.max()
        axes.scatter(clients, classes, s=held * scale, color="#0173b2", alpha=0.75, linewidths=0)
        for images in (counts.max(), max(1, counts.max() // 4)):
            axes.scatter([], [], s=images * scale, color="#0173b2", alpha=0.75, label=f"{images} images")
        axes.set_yticks(range(len(data.classes)), data.classes, fontsize=30 * row + 2)
        axes.set_ylim(len(data.classes) - 0.4, -0.6)
        axes.set_xlabel(
            "client" if len(partition.train) <= CLIENTS else f"client (the first {CLIENTS} of {len(partition.train)})"
        )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(x=0.02)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure
