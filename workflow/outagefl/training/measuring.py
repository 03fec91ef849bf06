"""How good models are on images that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from outagefl.training.images import ImageLoader
from outagefl.training.parameters import BoundModel

BATCH = 128  # images; with more of them convolutions are no faster: their activations leave the cache


def measure(
    model: BoundModel,
    rows: Sequence[Tensor],
    load: ImageLoader,
    x: NDArray[np.uint8],
    y: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> Tensor:
    """Accuracy and mean cross-entropy, float64 (k, 2), of the models ``rows``, k tensors (d,).

    ``chosen``: indices of the images of x, with labels y, to measure on; they are loaded once for all models.
    """
    model.module.eval()
    totals = torch.zeros(len(rows), 2, dtype=torch.float64, device=load.device)
    with torch.inference_mode():
        for start in range(0, len(chosen), BATCH):
            batch = chosen[start : start + BATCH]
            images, labels = load.plain(x, batch), load.labels(y, batch)
            for row, total in zip(rows, totals, strict=True):
                model.bind(row)
                logits = model.module(images)
                total[0] += (logits.argmax(dim=1) == labels).sum()
                total[1] += cross_entropy(logits, labels, reduction="sum")
    return totals / len(chosen)
