"""What the networks of the image tasks share: standardized pixels and frozen batch norms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import torch
from torch import Tensor, nn

from rankwise.vision.backbones import IMAGENET_DEVIATION, IMAGENET_MEAN, Backbone

_BATCH_NORM = nn.modules.batchnorm._BatchNorm


class ImageNetwork(nn.Module):
    """Base class of networks of images in [0, 1].

    Mean and deviation of the pixels are buffers of the network, ImageNet's unless it learns others.
    With ``freeze_batch_norm`` the statistics and the affine maps of batch norms stay as they are.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, *, freeze_batch_norm: bool = False) -> None:
        super().__init__()
        self.freeze_batch_norm = freeze_batch_norm
        self.register_buffer("mean", torch.tensor(IMAGENET_MEAN).reshape(3, 1, 1))
        self.register_buffer("deviation", torch.tensor(IMAGENET_DEVIATION).reshape(3, 1, 1))

    def freeze(self) -> None:
        """Freeze the batch norms if they are to be; called when all modules are there."""
        if self.freeze_batch_norm:
            for norm in self.batch_norms():
                norm.requires_grad_(False)
        self.train(self.training)

    def batch_norms(self) -> list[nn.Module]:
        """Return all batch norms."""
        return [part for part in self.modules() if isinstance(part, _BATCH_NORM)]

    @property
    def depends_on_batch(self) -> bool:
        """Whether an output depends on the other images of its batch, in training."""
        return not self.freeze_batch_norm and bool(self.batch_norms())

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        if self.freeze_batch_norm:
            for norm in self.batch_norms():
                norm.eval()
        return self

    @contextmanager
    def evaluation(self) -> Iterator[None]:
        """Set the network to evaluation while the context lasts, without gradients."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.train(training)

    def learn_statistics(self, pixels: Tensor) -> None:
        """Set mean and deviation of the channels to those of pixels, uint8 (n, 3, h, w)."""
        # By counting values: no second copy of all images in floating point.
        counts = torch.stack([torch.bincount(c.flatten(), minlength=256) for c in pixels.unbind(1)])
        share = counts.double() / counts.sum(1, keepdim=True)
        value = torch.arange(256, dtype=torch.float64) / 255
        mean = share @ value
        deviation = (share @ value**2 - mean**2).clamp_min(1e-8).sqrt()
        self.mean.copy_(mean.reshape(3, 1, 1))
        self.deviation.copy_(deviation.reshape(3, 1, 1))

    def standardize(self, images: Tensor) -> Tensor:
        """Return images in [0, 1] with mean 0 and deviation 1 by the statistics."""
        return (images - self.mean) / self.deviation


class ProjectedNetwork(ImageNetwork):
    """Base class of a backbone with a linear map of its features."""

    def __init__(
        self, backbone: Backbone, outputs: int, *, freeze_batch_norm: bool = False
    ) -> None:
        super().__init__(freeze_batch_norm=freeze_batch_norm)
        self.backbone = backbone
        self.projection = nn.Linear(backbone.channels, outputs)
        self.freeze()
