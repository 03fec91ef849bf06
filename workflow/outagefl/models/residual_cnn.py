"""The convolutional network of the DFL-AA paper (its section VI)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from outagefl.models.images import require_halvings


class Stage(nn.Module):
    """Two convolutions 3×3 with batch normalisation and ReLU, then max-pooling 2.

    Where both widths are equal the input joins before the second ReLU.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.end = nn.Sequential(nn.MaxPool2d(2), nn.ReLU(inplace=True))
        self._skips = inputs == outputs

    def forward(self, images: Tensor) -> Tensor:
        """Images (B, inputs, H, W) → (B, outputs, H / 2, W / 2); ReLU after the pooling costs a quarter."""
        found = self.branch(images)
        return self.end(found + images if self._skips else found)  # type: ignore[no-any-return]


def build(
    image_shape: tuple[int, int, int],
    classes: int,
    *,
    channels: Sequence[int],
    hidden: Sequence[int],
    dropout: float = 0,
) -> nn.Module:
    """A network from images (B, C, H, W) to logits (B, classes); ``image_shape`` is (H, W, C).

    A ``Stage`` per entry of ``channels``, the mean over what is left of the image, then a linear layer with ReLU per
    entry of ``hidden``, dropout of this probability, if above 0, and the linear head. The paper has channels 64, 128,
    128, hidden 256 and dropout 0.2: 591,562 parameters and 1,280 running statistics for images of 32×32×3 and 10
    classes.

    ConfigError for more stages than the image has halves: every normalisation then sees at least 2×2 pixels, so that a
    batch of a single image can be trained on.
    """
    require_halvings(image_shape, channels)
    depth = image_shape[2]
    layers: list[nn.Module] = []
    for channel in channels:
        layers.append(Stage(depth, channel))
        depth = channel
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    for units in hidden:
        layers += [nn.Linear(depth, units), nn.ReLU(inplace=True)]
        depth = units
    drop = [nn.Dropout(dropout)] if dropout else []
    return nn.Sequential(*layers, *drop, nn.Linear(depth, classes))
