"""A small convolutional network with a projection head."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.vision.backbones import channels_last

__all__ = ["ContrastNet"]


class ContrastNet(nn.Module):
    """Pixels in [0, 1] to features (n, 8·width), and those to the embedding that is contrasted.

    Four convolutions with batch norm, the first three halving the image, then the mean over what is
    left; the head (SimCLR's, two layers) is only there for training. The mean and deviation of the
    training pixels are a part of the network, which therefore takes images as they are.
    """

    mean: Tensor
    deviation: Tensor

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
        self.register_buffer("mean", torch.zeros(3, 1, 1))
        self.register_buffer("deviation", torch.ones(3, 1, 1))
        channels_last(self)

    def standardize(self, pixels: Tensor) -> None:
        """Learn mean and deviation of the channels of training pixels, uint8."""
        # By counting values: no second copy of all images in floating point.
        counts = torch.stack([torch.bincount(c.flatten(), minlength=256) for c in pixels.unbind(1)])
        share = counts.double() / counts.sum(1, keepdim=True)
        value = torch.arange(256, dtype=torch.float64) / 255
        mean = share @ value
        deviation = (share @ value**2 - mean**2).clamp_min(1e-8).sqrt()
        self.mean.copy_(mean.reshape(3, 1, 1))
        self.deviation.copy_(deviation.reshape(3, 1, 1))

    def features(self, images: Tensor) -> Tensor:
        """What is used after training: by a linear classifier, or by cosines."""
        standard = (images - self.mean) / self.deviation
        found: Tensor = self.body(standard.contiguous(memory_format=torch.channels_last))
        return found

    def forward(self, images: Tensor) -> Tensor:
        """The embedding (n, dimension)."""
        embedding: Tensor = self.head(self.features(images))
        return embedding
