"""Two views of every image: cropped, mirrored, recolored at random."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rankwise.extras import require

__all__ = ["make_views"]


def make_views(height: int, width: int) -> Callable[[Tensor], Tensor]:
    """A function of pixels (n, 3, h, w), uint8, that gives two views (2n, 3, h, w) in [0, 1].

    The recipe of SimCLR for small images (Chen et al. 2020), blur left out: a crop of 20 to 100 %
    of the area, flip, brightness, contrast, saturation 0.4 and hue 0.1 with probability 0.8, gray
    with 0.2. All randomness is torch's own generator's.
    """
    require("rankwise.tasks.contrast", "kornia")
    from kornia import augmentation  # noqa: PLC0415  (an extra, and a second to import)

    steps = torch.nn.Sequential(
        augmentation.RandomResizedCrop((height, width), scale=(0.2, 1.0)),
        augmentation.RandomHorizontalFlip(),
        augmentation.ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
        augmentation.RandomGrayscale(p=0.2),
    )

    @torch.no_grad()
    def views(pixels: Tensor) -> Tensor:
        twice = pixels.repeat(2, 1, 1, 1).float() / 255
        changed: Tensor = steps(twice)
        return changed.clamp(0, 1)

    return views
