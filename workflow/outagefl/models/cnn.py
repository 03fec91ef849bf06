"""The convolutional networks of the FedSWE paper (its Table 5)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from outagefl.models.images import require_halvings


def build(
    image_shape: tuple[int, int, int],
    classes: int,
    *,
    channels: Sequence[int],
    hidden: Sequence[int],
    dropout: float = 0,
) -> nn.Module:
    """A network from images (B, C, H, W) to logits (B, classes); ``image_shape`` is (H, W, C).

    Per entry of ``channels``: convolution 3×3 with padding 1, max-pooling 2, ReLU; then a linear layer with ReLU per
    entry of ``hidden``, and the linear head; before each linear layer dropout of this probability, if above 0. The
    paper puts ReLU before the pooling; both are monotone, so the order changes neither outputs nor gradients, and on
    the pooled image ReLU costs a quarter.

    For 32×32×3 images and 10 classes: channels 32, 32 with hidden 128 has 273,706 parameters (SVHN in the paper), with
    hidden 256, 64 it has 551,786 (CIFAR-10), and with hidden 512, 256 and dropout 0.2 1,193,130 (CINIC-10). ConfigError
    for more poolings than the image has halves.
    """
    require_halvings(image_shape, channels)
    height, width, depth = image_shape
    layers: list[nn.Module] = []
    for channel in channels:
        layers += [nn.Conv2d(depth, channel, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()]
        height, width, depth = height // 2, width // 2, channel
    layers.append(nn.Flatten())
    drop = [nn.Dropout(dropout)] if dropout else []
    size = height * width * depth
    for units in hidden:
        layers += [*drop, nn.Linear(size, units), nn.ReLU()]
        size = units
    return nn.Sequential(*layers, *drop, nn.Linear(size, classes))
