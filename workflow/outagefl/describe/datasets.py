"""What is in a data set: images per class, channel statistics, a sheet of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from outagefl.analysis import style
from outagefl.datasets.arrays import ImageData
from outagefl.errors import ConfigError
from outagefl.randomness import generator

SAMPLES = 10  # images of each class on the sheet
CLASSES = 20  # classes on the sheet; of more, this many at equal distances are shown
TOLERANCE = 0.0005  # between ours and a published constant, on the scale 0..1: equal to three digits


def class_counts(data: ImageData) -> pd.DataFrame:
    """Images per class: columns class, train, test; the last row, ``all``, holds the sums."""
    counts = {
        split: np.bincount(labels, minlength=len(data.classes))
        for split, labels in (("train", data.y_train), ("test", data.y_test))
    }
    table = pd.DataFrame({"class": data.classes, **counts})
    return pd.concat([table, pd.DataFrame([{"class": "all", **table[["train", "test"]].sum()}])], ignore_index=True)


def channel_constants(data: ImageData, published: Mapping[str, Sequence[float]] | None = None) -> pd.DataFrame:
    """Normalisation constants of the training images scaled to 0..1, a row a channel.

    Columns channel, mean, mean_published (from ``published``: mean and std, one number a channel), mean_difference
    (ours less the published one), the same for std, tolerance, verdict, and note, what must be known about the data.
    The verdict is ``agrees`` if neither difference is larger than the tolerance, else ``differs``; without published
    numbers it is ``none published``. Raises ConfigError if the numbers are not one a channel.
    """
    names = ("red", "green", "blue") if len(data.mean) == 3 else ("grey",)
    table = pd.DataFrame({"channel": names})
    for constant, own in (("mean", data.mean), ("std", data.std)):
        values = published[constant] if published else [np.nan] * len(names)
        if len(values) != len(names):
            where = f"config/sources.yaml: published.{constant}"
            raise ConfigError(f"{where}: {len(values)} numbers; expected {len(names)}, one a channel")
        table[constant] = own
        table[f"{constant}_published"] = values
        table[f"{constant}_difference"] = table[constant] - table[f"{constant}_published"]
    apart = table[["mean_difference", "std_difference"]].abs().max(axis=1)
    verdict = np.where(apart <= TOLERANCE, "agrees", "differs") if published else "none published"
    return table.assign(tolerance=TOLERANCE, verdict=verdict, note=data.note)


def sample_sheet(data: ImageData) -> Figure:
    """Training images drawn at random (always the same), one row a class."""
    shown = np.unique(np.linspace(0, len(data.classes) - 1, CLASSES).round().astype(int))
    rows = []
    for label in shown:
        own = np.flatnonzero(data.y_train == label)
        drawn = generator(0, "sample sheet", int(label)).permutation(own)[:SAMPLES]
        blank = np.full((SAMPLES - len(drawn), *data.x_train.shape[1:]), 255, np.uint8)
        rows.append(np.concatenate([*np.concatenate([data.x_train[drawn], blank])], axis=1))
    sheet = np.concatenate(rows)
    height = data.x_train.shape[1]
    with style.theme():
        figure = Figure(figsize=(6.4, 1 + 0.5 * len(shown)), layout="constrained")
        axes = figure.subplots()
        axes.imshow(sheet.squeeze(), cmap="gray", interpolation="nearest", aspect="equal")
        axes.set_yticks(np.arange(len(shown)) * height + height / 2, [data.classes[label] for label in shown])
        axes.set_xticks([])
        axes.grid(visible=False)
    return figure
