"""What a network asks of the images it takes."""

from __future__ import annotations

from collections.abc import Sequence

from outagefl.errors import ConfigError


def require_halvings(image_shape: tuple[int, int, int], channels: Sequence[int]) -> None:
    """Raise ConfigError unless images of ``image_shape`` (H, W, C) can be halved once per entry of ``channels``."""
    height, width, _ = image_shape
    if min(height, width) < 2 ** len(channels):
        raise ConfigError(
            f"model.channels: {list(channels)} halves images of {height}×{width} {len(channels)} times; "
            f"expected at most {min(height, width).bit_length() - 1} entries"
        )
