"""Images before a network: resized once, cropped, flipped and rotated at random in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from rankwise.extras import require
from rankwise.vision.settings import Augmentations

Images = Sequence[Tensor] | Tensor
Augment = Callable[[Images, torch.device], Tensor]


def resize(image: Tensor, how: Augmentations) -> Tensor:
    """Resize images (…, 3, h, w), uint8: the shorter side, or both, to ``how.resize`` pixels."""
    height, width = image.shape[-2:]
    size = how.resize
    wanted = (size, size)
    if not how.square:
        short = min(height, width)
        wanted = (max(size, round(height * size / short)), max(size, round(width * size / short)))
    if (height, width) == wanted:
        return image
    # Without antialiasing a large photograph made small is noise.
    batch = image.reshape(-1, *image.shape[-3:])
    resized = interpolate(batch, wanted, mode="bilinear", antialias=True)
    return resized.reshape(*image.shape[:-2], *wanted)


def center_crop(images: Sequence[Tensor], how: Augmentations) -> Tensor:
    """Crop resized images to their center, (n, 3, crop, crop) in [0, 1]; nothing is random."""
    crops = []
    for image in images:
        height, width = image.shape[1:]
        crops.append(_crop(image, how.crop, (height - how.crop) // 2, (width - how.crop) // 2))
    return torch.stack(crops).float() / 255


def make_augmentation(how: Augmentations) -> Augment:
    """Return a function of resized images, uint8, to (n, 3, crop, crop) in [0, 1] on a device.

    Square images are flipped, rotated and cropped by kornia as a batch. Those of several shapes
    (``square: false``) are cropped first, one by one, and then flipped. All randomness comes from
    torch's global generator.
    """
    require("rankwise.vision", "kornia")
    from kornia import augmentation  # noqa: PLC0415  (an extra, and a second to import)

    steps: list[nn.Module] = []
    size = (how.crop, how.crop)
    if how.flip:
        steps.append(augmentation.RandomHorizontalFlip())
    if how.rotation:
        # The border is repeated where a rotated image has no pixels: no black corners to learn.
        steps.append(augmentation.RandomAffine(how.rotation, padding_mode="border", p=1.0))
    if how.resized_crop:
        steps.append(augmentation.RandomResizedCrop(size, scale=how.scale))
    elif how.square and how.crop < how.resize:
        steps.append(augmentation.RandomCrop(size))
    chain = nn.Sequential(*steps)

    @torch.no_grad()
    def augment(images: Images, device: torch.device) -> Tensor:
        if not how.square:
            images = [_random_crop(image, how.crop) for image in images]
        batch = torch.stack(list(images)).to(device).float() / 255
        changed: Tensor = chain(batch)
        return changed.clamp(0, 1)

    return augment


def make_fast_augmentation(how: Augmentations) -> Augment:
    """Return the same by one gather from all images, where they are only cropped and flipped.

    Small images cost more to augment than to learn from when every change is a call. The random
    numbers differ from those of :func:`make_augmentation`, which does everything else.
    """
    if not how.square or how.rotation or how.resized_crop:
        return make_augmentation(how)

    @torch.no_grad()
    def augment(images: Images, device: torch.device) -> Tensor:
        batch = images if isinstance(images, Tensor) else torch.stack(list(images))
        count, room = len(batch), how.resize - how.crop
        inside = torch.arange(how.crop)
        across = inside.expand(count, -1)
        if how.flip:
            across = torch.where(torch.rand(count, 1) < 0.5, across.flip(1), across)
        down = inside + torch.randint(room + 1, (count, 1))
        across = across + torch.randint(room + 1, (count, 1))
        places = torch.arange(count)[:, None, None], down[:, :, None], across[:, None, :]
        crops = batch.permute(0, 2, 3, 1)[places]  # channels last, as convolutions need them
        return crops.permute(0, 3, 1, 2).to(device).float() / 255

    return augment


def _random_crop(image: Tensor, size: int) -> Tensor:
    height, width = image.shape[1:]
    top = int(torch.randint(height - size + 1, ()))
    return _crop(image, size, top, int(torch.randint(width - size + 1, ())))


def _crop(image: Tensor, size: int, top: int, left: int) -> Tensor:
    return image[:, top : top + size, left : left + size]
