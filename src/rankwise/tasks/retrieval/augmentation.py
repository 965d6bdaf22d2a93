"""Pictures before the network: resized once, cut and turned at random in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from rankwise.extras import require
from rankwise.vision.settings import Augmentations

__all__ = ["evaluation_view", "make_views", "resized"]


def resized(picture: Tensor, views: Augmentations) -> Tensor:
    """An image (…, 3, h, w), uint8, with its shorter side, or both, ``resize`` long."""
    height, width = picture.shape[-2:]
    size = views.resize
    wanted = (size, size)
    if not views.square:
        short = min(height, width)
        wanted = (max(size, round(height * size / short)), max(size, round(width * size / short)))
    if (height, width) == wanted:
        return picture
    # Without antialiasing a large photograph made small is noise.
    batch = picture.reshape(-1, *picture.shape[-3:])
    found = interpolate(batch, wanted, mode="bilinear", antialias=True)
    return found.reshape(*picture.shape[:-2], *wanted)


def evaluation_view(pictures: Sequence[Tensor], views: Augmentations) -> Tensor:
    """Resized pictures cut to their center, (n, 3, crop, crop) in [0, 1], nothing random."""
    cut = []
    for picture in pictures:
        height, width = picture.shape[1:]
        top, left = (height - views.crop) // 2, (width - views.crop) // 2
        cut.append(picture[:, top : top + views.crop, left : left + views.crop])
    return torch.stack(cut).float() / 255


def make_views(views: Augmentations) -> Callable[[Sequence[Tensor], torch.device], Tensor]:
    """A function of resized pictures, uint8, that gives (n, 3, crop, crop) in [0, 1], on a device.

    Square pictures are flipped, turned and cut by kornia as a batch. Those of several shapes
    (``square: false``) are cut first, one by one, and then flipped. All randomness is torch's own
    generator's.
    """
    require("rankwise.tasks.retrieval", "kornia")
    from kornia import augmentation  # noqa: PLC0415  (an extra, and a second to import)

    steps: list[nn.Module] = []
    size = (views.crop, views.crop)
    if views.flip:
        steps.append(augmentation.RandomHorizontalFlip())
    if views.rotation:
        # The border goes on where a turned picture has nothing: no black corners to learn.
        turned = augmentation.RandomAffine(views.rotation, padding_mode="border", p=1.0)
        steps.append(turned)
    if views.resized_crop:
        steps.append(augmentation.RandomResizedCrop(size, scale=views.scale))
    elif views.square and views.crop < views.resize:
        steps.append(augmentation.RandomCrop(size))
    chain = nn.Sequential(*steps)

    @torch.no_grad()
    def view(pictures: Sequence[Tensor], device: torch.device) -> Tensor:
        if not views.square:
            pictures = [_cut(picture, views.crop) for picture in pictures]
        batch = torch.stack(list(pictures)).to(device).float() / 255
        changed: Tensor = chain(batch)
        return changed.clamp(0, 1)

    return view


def _cut(picture: Tensor, size: int) -> Tensor:
    height, width = picture.shape[1:]
    top = int(torch.randint(height - size + 1, ()))
    left = int(torch.randint(width - size + 1, ()))
    return picture[:, top : top + size, left : left + size]
