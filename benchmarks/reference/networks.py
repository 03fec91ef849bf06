"""The papers' networks as their texts describe them."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.functional import max_pool2d, relu


class Cnn(nn.Module):
    """The CIFAR-10 network of the FedSWE paper (its Table 5)."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 8 * 8, 256)
        self.fc2 = nn.Linear(256, 64)
        self.fc3 = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Images (B, 3, 32, 32) → logits."""
        x = max_pool2d(relu(self.conv1(x)), 2)
        x = max_pool2d(relu(self.conv2(x)), 2)
        x = relu(self.fc1(x.flatten(1)))
        return self.fc3(relu(self.fc2(x)))  # type: ignore[no-any-return]


class Mlp(nn.Module):
    """The EMNIST network of the DFL-AA paper."""

    def __init__(self, inputs: int = 784, hidden: Sequence[int] = (256, 256), classes: int = 47, dropout: float = 0.1):
        super().__init__()
        layers: list[nn.Module] = []
        for units in hidden:
            layers += [nn.Linear(inputs, units, bias=False), nn.LayerNorm(units), nn.ReLU()]
            inputs = units
        self.layers = nn.Sequential(nn.Flatten(), *layers, nn.Dropout(dropout), nn.Linear(inputs, classes))

    def forward(self, x: Tensor) -> Tensor:
        """Images (B, 1, 28, 28) → logits."""
        return self.layers(x)  # type: ignore[no-any-return]


class Block(nn.Module):
    """Two convolutions with batch normalisation, a skip where it fits, max-pooling."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.skip = inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) → (B, C', H / 2, W / 2)."""
        found = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        return max_pool2d(relu(found + x if self.skip else found), 2)


class ResidualCnn(nn.Module):
    """The CIFAR-10 network of the DFL-AA paper."""

    def __init__(self, classes: int = 10, dropout: float = 0.2) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 64), Block(64, 128), Block(128, 128))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Linear(128, 256)
        self.dropout = nn.Dropout(dropout)
        self.fc2 = nn.Linear(256, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Images (B, 3, 32, 32) → logits."""
        x = self.pool(self.blocks(x)).flatten(1)
        return self.fc2(self.dropout(relu(self.fc1(x))))  # type: ignore[no-any-return]
