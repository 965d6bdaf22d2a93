"""The network that is trained: images to unit vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.augmentations import mixed_stages
from rankwise.vision.backbones import make_backbone
from rankwise.vision.network import ProjectedNetwork


class EmbeddingNet(ProjectedNetwork):
    """Images in [0, 1] to features by a backbone, and those by a linear map to unit vectors."""

    def forward(self, images: Tensor, mixing: Sequence[Tensor] = (), u: float = 0.9) -> Tensor:
        """Return unit vectors (n, dimension).

        With ``mixing``, one set of weights by class for each of the last stages, class after class
        of equal size (:mod:`rankwise.vision.augmentations`), each of them doubles the images.
        """
        standard = self.standardize(images)
        with mixed_stages(self.backbone.stages if mixing else (), mixing, u):
            features = self.backbone(standard)
        # Unit vectors in half precision would be apart by more than close neighbors are.
        with torch.autocast(features.device.type, enabled=False):
            projected = self.projection(features.to(self.projection.weight.dtype))
            return normalize(projected.float(), dim=-1)


def make_network(settings: Network) -> EmbeddingNet:
    """Make the network of the settings; what is new in it comes from torch's global generator."""
    backbone = make_backbone(settings.backbone, settings.weights, settings.options)
    return EmbeddingNet(backbone, settings.dimension, freeze_batch_norm=settings.freeze_batch_norm)
