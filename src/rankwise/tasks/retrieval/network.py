"""The network that is trained: pictures to unit vectors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.backbones import (
    IMAGENET_DEVIATION,
    IMAGENET_MEAN,
    Backbone,
    make_backbone,
)
from rankwise.vision.mixup import mixed_stages

__all__ = ["EmbeddingNet", "make_network"]

_BATCH_NORM = nn.modules.batchnorm._BatchNorm


class EmbeddingNet(nn.Module):
    """Pictures in [0, 1] to features by a backbone, and those by a linear map to unit vectors.

    With ``freeze_batch_norm`` the statistics and the affine maps of batch norms stay as they are.
    Mean and deviation of the pixels are a part of the network, which takes pictures as they are.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self, backbone: Backbone, dimension: int, *, freeze_batch_norm: bool = False
    ) -> None:
        super().__init__()
        self.backbone, self.freeze_batch_norm = backbone, freeze_batch_norm
        self.projection = nn.Linear(backbone.channels, dimension)
        self.register_buffer("mean", torch.tensor(IMAGENET_MEAN).reshape(3, 1, 1))
        self.register_buffer("deviation", torch.tensor(IMAGENET_DEVIATION).reshape(3, 1, 1))
        if freeze_batch_norm:
            for norm in self.batch_norms():
                norm.requires_grad_(False)
            self.train(self.training)

    def batch_norms(self) -> list[nn.Module]:
        """Every batch norm there is."""
        return [part for part in self.modules() if isinstance(part, _BATCH_NORM)]

    @property
    def mixes_images(self) -> bool:
        """Whether an embedding depends on the other images of its batch, in training."""
        return not self.freeze_batch_norm and bool(self.batch_norms())

    def train(self, mode: bool = True) -> EmbeddingNet:
        super().train(mode)
        if self.freeze_batch_norm:
            for norm in self.batch_norms():
                norm.eval()
        return self

    def standardize(self, pixels: Tensor) -> None:
        """Learn mean and deviation of the channels of training pixels, uint8 (n, 3, h, w)."""
        # By counting values: no second copy of all images in floating point.
        counts = torch.stack([torch.bincount(c.flatten(), minlength=256) for c in pixels.unbind(1)])
        share = counts.double() / counts.sum(1, keepdim=True)
        value = torch.arange(256, dtype=torch.float64) / 255
        mean = share @ value
        deviation = (share @ value**2 - mean**2).clamp_min(1e-8).sqrt()
        self.mean.copy_(mean.reshape(3, 1, 1))
        self.deviation.copy_(deviation.reshape(3, 1, 1))

    def forward(self, pictures: Tensor, mixing: Sequence[Tensor] = (), u: float = 0.9) -> Tensor:
        """Unit vectors (n, dimension).

        With ``mixing``, one set of weights by class for each of the last stages, class after class
        of equal size (:mod:`.mixup`), each of them doubles the images.
        """
        standard = (pictures - self.mean) / self.deviation
        with mixed_stages(self.backbone.stages if mixing else (), mixing, u):
            features = self.backbone(standard)
        # Unit vectors in half precision would be apart by more than close neighbors are.
        with torch.autocast(features.device.type, enabled=False):
            own = self.projection(features.to(self.projection.weight.dtype))
            return normalize(own.float(), dim=-1)


def make_network(settings: Network) -> EmbeddingNet:
    """The network of the settings, what is new in it by torch's own generator."""
    return EmbeddingNet(
        make_backbone(settings.backbone, settings.weights, settings.options),
        settings.dimension,
        freeze_batch_norm=settings.freeze_batch_norm,
    )
