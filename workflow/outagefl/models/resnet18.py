"""ResNet-18 for small images, the larger network of the DFL-AA paper (its Fig. 8)."""

from __future__ import annotations

from torch import nn
from torchvision.models import resnet18

from outagefl.errors import ConfigError

SMALLEST = 9  # pixels: the last of three halvings then leaves 2×2


def build(image_shape: tuple[int, int, int], classes: int) -> nn.Module:
    """A network from images (B, C, H, W) to logits (B, classes); ``image_shape`` is (H, W, C).

    Torchvision's, with a first convolution of 3×3 that keeps the size and without the pooling after it: 11,173,962
    parameters and 9,600 running statistics for images of 32×32×3 and 10 classes.

    ConfigError for images so small that the last normalisation would see one pixel of each: torch cannot train it on a
    batch of a single image.
    """
    height, width, depth = image_shape
    if min(height, width) < SMALLEST:
        raise ConfigError(
            f"model: resnet18 halves images three times, found {height}×{width} pixels, "
            f"expected at least {SMALLEST}×{SMALLEST}"
        )
    network: nn.Module = resnet18(num_classes=classes)
    network.conv1 = nn.Conv2d(depth, 64, 3, padding=1, bias=False)
    network.maxpool = nn.Identity()
    return network
