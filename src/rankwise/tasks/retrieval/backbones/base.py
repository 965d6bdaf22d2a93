"""What a backbone is to the rest: pictures to features, and places where features can be mixed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor, nn

__all__ = ["IMAGENET_DEVIATION", "IMAGENET_MEAN", "Backbone"]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_DEVIATION = (0.229, 0.224, 0.225)


class Backbone(nn.Module, ABC):
    """Standardized pictures (n, 3, h, w) to features (n, ``channels``)."""

    channels: int
    own_statistics: bool = False  # standardized by the training pixels, not by ImageNet's

    @property
    @abstractmethod
    def stages(self) -> Sequence[nn.Module]:
        """The first module of every stage, in order; each takes the features as its first input."""

    @abstractmethod
    def forward(self, pictures: Tensor) -> Tensor:
        """Features after the mean over all places."""
