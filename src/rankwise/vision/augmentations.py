"""Augmentations: images resized once, changed at random in training, and deep feature mixup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from rankwise.errors import UsageError
from rankwise.extras import require
from rankwise.vision.settings import Augmentations

Images = Sequence[Tensor] | Tensor
Augment = Callable[[Images, torch.device], Tensor]


def resize(image: Tensor, how: Augmentations) -> Tensor:
    """Resize images (…, 3, h, w), uint8: the shorter side, or both, to ``how.resize`` pixels."""
    sides, size = list(image.shape[-2:]), how.resize
    wanted = [size if how.square else max(size, round(s * size / min(sides))) for s in sides]
    if sides == wanted:
        return image
    # Without antialiasing a large photograph made small is noise.
    batch = image.reshape(-1, *image.shape[-3:])
    resized = interpolate(batch, wanted, mode="bilinear", antialias=True)
    return resized.reshape(*image.shape[:-2], *wanted)


def center_crop(images: Sequence[Tensor], how: Augmentations) -> Tensor:
    """Crop resized images to their center, (n, 3, crop, crop) in [0, 1]; nothing is random."""
    crops = []
    for image in images:
        top, left = ((side - how.crop) // 2 for side in image.shape[1:])
        crops.append(image[:, top : top + how.crop, left : left + how.crop])
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
    top, left = (int(torch.randint(side - size + 1, ())) for side in image.shape[1:])
    return image[:, top : top + size, left : left + size]


def draw_mixing(classes: int, per_class: int, stages: int, like: Tensor) -> list[Tensor]:
    """Draw the weights v of every mixing, (classes, images, images): v ~ U(0, 1), rows sum to 1.

    Every mixing doubles the images of a class, so that the next is larger. They are drawn for a
    whole batch: chunks of it, class by class, are mixed as the whole is.
    """
    sizes = [per_class * 2**stage for stage in range(stages)]
    drawn = [torch.rand(classes, n, n, device=like.device, dtype=torch.float32) for n in sizes]
    return [v / v.sum(-1, keepdim=True) for v in drawn]


def mix_features(features: Tensor, weights: Tensor, u: float) -> Tensor:
    """Append to each class its mixed features z̃_i = u z_i + (1−u) Σ_j v_ij z_j.

    ``features`` (n, …) has the classes one after the other, of equal size; the result has 2n rows.
    """
    classes, size, _ = weights.shape
    if len(features) != classes * size:
        raise UsageError(
            f"mixup: {classes} classes of {size} images make {classes * size}, got {len(features)}"
        )
    by_class = features.reshape(classes, size, -1)
    neighbors = weights.to(features.dtype) @ by_class
    both = torch.cat([by_class, u * by_class + (1 - u) * neighbors], dim=1)
    result = both.reshape(2 * len(features), *features.shape[1:])
    if features.dim() == 4 and features.is_contiguous(memory_format=torch.channels_last):
        result = result.contiguous(memory_format=torch.channels_last)
    return result


@contextmanager
def mixed_stages(stages: Sequence[nn.Module], mixing: Sequence[Tensor], u: float) -> Iterator[None]:
    """Mix the features before each of the last stages of a backbone, within the context."""
    if len(mixing) > len(stages):
        raise UsageError(
            f"mixup.stages must be at most the {len(stages)} of the backbone, got {len(mixing)}"
        )
    with ExitStack() as stack:
        for stage, weights in zip(stages[len(stages) - len(mixing) :], mixing, strict=True):
            hook = stage.register_forward_pre_hook(
                lambda _, inputs, v=weights: (mix_features(inputs[0], v, u), *inputs[1:])
            )
            stack.callback(hook.remove)
        yield
