"""How good models are on images that they share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from outagefl.training.images import ImageLoader
from outagefl.training.parameters import BoundModel

IN_CACHE = 1 << 22  # numbers; with more of them in a layer's output convolutions are slower
MOST = 1 << 10  # images; more at once are no faster, however small the network is


def images_at_once(module: nn.Module, image: Tensor) -> int:
    """How many images such as ``image`` (1, C, H, W) to measure at once: what the widest layer keeps in the cache."""
    widest = [image.numel()]
    hooks = [
        layer.register_forward_hook(lambda _layer, _given, found: widest.append(found.numel()))
        for layer in module.modules()
    ]
    training = module.training
    with torch.inference_mode():
        module.eval()(image)
    module.train(training)
    for hook in hooks:
        hook.remove()
    return min(max(IN_CACHE // max(widest), 1), MOST)


def measure(
    model: BoundModel,
    rows: Sequence[Tensor],
    load: ImageLoader,
    x: NDArray[np.uint8],
    y: NDArray[np.int64],
    chosen: NDArray[np.int64],
    at_once: int,
) -> Tensor:
    """Accuracy and mean cross-entropy, float64 (k, 2), of the models ``rows``, k tensors (d,).

    ``chosen``: indices of the images of x, with labels y, to measure on, ``at_once`` of them at a time; they are loaded
    once for all models.
    """
    model.module.eval()
    totals = torch.zeros(len(rows), 2, dtype=torch.float64, device=load.device)
    with torch.inference_mode():
        for start in range(0, len(chosen), at_once):
            batch = chosen[start : start + at_once]
            images, labels = load.plain(x, batch), load.labels(y, batch)
            for row, total in zip(rows, totals, strict=True):
                model.bind(row)
                logits = model.module(images)
                total[0] += (logits.argmax(dim=1) == labels).sum()
                total[1] += cross_entropy(logits, labels, reduction="sum")
    return totals / len(chosen)
