"""A small convolutional network with a projection head."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.vision.backbones import channels_last
from rankwise.vision.network import ImageNetwork


class ContrastNet(ImageNetwork):
    """Pixels in [0, 1] to features (n, 8·width), and those to the embedding that is contrasted.

    Four convolutions with batch norm, the first three halving the image, then the mean over what is
    left; the head (SimCLR's, two layers) is only used in training.
    """

    def __init__(self, width: int = 32, dimension: int = 64) -> None:
        super().__init__()
        channels = (3, width, 2 * width, 4 * width, 8 * width)
        layers: list[nn.Module] = []
        for number in range(4):
            layers += [
                nn.Conv2d(channels[number], channels[number + 1], 3, padding=1, bias=False),
                nn.BatchNorm2d(channels[number + 1]),
                nn.ReLU(),
            ]
            if number < 3:
                layers.append(nn.MaxPool2d(2))
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(
            nn.Linear(8 * width, 8 * width), nn.ReLU(), nn.Linear(8 * width, dimension)
        )
        channels_last(self)

    def features(self, images: Tensor) -> Tensor:
        """Return the features, which a linear classifier or cosines use after training."""
        standard = self.standardize(images)
        features: Tensor = self.body(standard.contiguous(memory_format=torch.channels_last))
        return features

    def forward(self, images: Tensor) -> Tensor:
        """Return the embedding (n, dimension)."""
        embedding: Tensor = self.head(self.features(images))
        return embedding
