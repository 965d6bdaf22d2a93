"""Random augmentations of images with boxes, as in SSD (Liu et al. 2016, section 2.2)."""

from __future__ import annotations

import colorsys
import math

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from rankwise.tasks.detection.settings import Augmentations
from rankwise.vision.backbones import IMAGENET_MEAN
from rankwise.vision.boxes import box_area, iou

_OVERLAPS = (None, 0.1, 0.3, 0.5, 0.7, 0.9)  # with some object, that a part is asked to have
_TRIES = 20
_LEAST = 1.0  # side in pixels below which an object cannot be seen any more

Sample = tuple[Tensor, Tensor, Tensor]  # image (3, h, w), boxes (n, 4), labels (n,)


def augmented(sample: Sample, how: Augmentations, generator: torch.Generator) -> Sample:
    """Augment an image in [0, 1] to the size of ``how``; boxes outside of it are dropped."""
    image, boxes, labels = sample
    if how.colors:
        image = colored(image, generator)
    if how.expand > 1 and coin(generator):
        image, boxes = expanded(image, boxes, how.expand, generator)
    if how.crop:
        image, boxes, labels = cropped((image, boxes, labels), generator)
    before, after = (image.shape[-2], image.shape[-1]), (how.height, how.width)
    image, boxes = resized(image, after), rescaled(boxes, before, after)
    if how.flip and coin(generator):
        image, boxes = flipped(image, boxes)
    seen = (boxes[:, 2:] - boxes[:, :2]).amin(1) >= _LEAST
    return image, boxes[seen], labels[seen]


def resized(image: Tensor, size: tuple[int, int]) -> Tensor:
    """Resize an image, uint8 or in [0, 1], to (height, width)."""
    if tuple(image.shape[-2:]) == size:
        return image
    # Without antialiasing a large photograph made small is noise.
    return interpolate(image.unsqueeze(0), size, mode="bilinear", antialias=True).squeeze(0)


def rescaled(boxes: Tensor, before: tuple[int, int], after: tuple[int, int]) -> Tensor:
    """Return the boxes of an image of one (height, width) after its resizing to another."""
    across, down = after[1] / before[1], after[0] / before[0]
    return boxes * boxes.new_tensor([across, down, across, down])


def flipped(image: Tensor, boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Mirror an image and its boxes."""
    x1, y1, x2, y2 = boxes.unbind(1)
    width = image.shape[-1]
    return image.flip(-1), torch.stack([width - x2, y1, width - x1, y2], 1)


def expanded(
    image: Tensor, boxes: Tensor, most: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Place an image at random on a gray canvas up to ``most`` times as wide and as high."""
    ratio = _between(1.0, most, generator)
    height, width = image.shape[-2:]
    tall, wide = math.ceil(height * ratio), math.ceil(width * ratio)
    top = int(_between(0, tall - height + 1, generator))
    left = int(_between(0, wide - width + 1, generator))
    canvas = image.new_tensor(IMAGENET_MEAN).reshape(3, 1, 1).repeat(1, tall, wide)
    canvas[:, top : top + height, left : left + width] = image
    return canvas, boxes + boxes.new_tensor([left, top, left, top])


def cropped(sample: Sample, generator: torch.Generator) -> Sample:
    """Crop an image at random, with the objects whose center is inside, cut at its edges.

    How much the part must overlap with some object is drawn; where no part is found, another is
    drawn, and one of the draws is the whole image.
    """
    image, boxes, labels = sample
    if len(boxes) == 0:
        return sample
    height, width = image.shape[-2:]
    while True:
        draw = int(torch.randint(len(_OVERLAPS) + 1, (), generator=generator))
        if draw == len(_OVERLAPS):
            return sample
        for _ in range(_TRIES):
            wide = int(_between(0.3, 1.0, generator) * width)
            tall = int(_between(0.3, 1.0, generator) * height)
            if not 0.5 <= wide / max(tall, 1) <= 2 or tall < 1:
                continue
            left = int(_between(0, width - wide + 1, generator))
            top = int(_between(0, height - tall + 1, generator))
            part = boxes.new_tensor([left, top, left + wide, top + tall])
            least = _OVERLAPS[draw]
            if least is not None and float(iou(boxes, part.unsqueeze(0)).max()) < least:
                continue
            middle = (boxes[:, :2] + boxes[:, 2:]) / 2
            kept = ((middle > part[:2]) & (middle < part[2:])).all(1)
            if not kept.any():
                continue
            cut = torch.maximum(torch.minimum(boxes[kept], part[2:].repeat(2)), part[:2].repeat(2))
            cut, names = cut - part[:2].repeat(2), labels[kept]
            good = box_area(cut) > 0
            return image[:, top : top + tall, left : left + wide], cut[good], names[good]


def colored(image: Tensor, generator: torch.Generator) -> Tensor:
    """Change brightness, contrast, saturation and hue, each with probability ½."""
    if coin(generator):
        image = image + _between(-0.125, 0.125, generator)
    if coin(generator):
        image = image * _between(0.5, 1.5, generator)
    if coin(generator):
        gray = (image * image.new_tensor([0.299, 0.587, 0.114]).reshape(3, 1, 1)).sum(0)
        amount = _between(0.5, 1.5, generator)
        image = gray + amount * (image - gray)
    if coin(generator):
        image = _turned(image, _between(-18.0, 18.0, generator))
    return image.clamp(0, 1)


def _turned(image: Tensor, degrees: float) -> Tensor:
    """Rotate the hues about the gray axis of YIQ: one matrix for all pixels."""
    columns = [colorsys.rgb_to_yiq(*row) for row in torch.eye(3).tolist()]
    to_yiq = torch.tensor(columns, dtype=torch.float64).T
    angle = math.radians(degrees)
    turn = torch.eye(3, dtype=torch.float64)
    turn[1:, 1:] = torch.tensor(
        [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    )
    matrix: Tensor = (torch.linalg.inv(to_yiq) @ turn @ to_yiq).to(image)
    return (matrix @ image.flatten(1)).reshape(image.shape)


def _between(low: float, high: float, generator: torch.Generator) -> float:
    return low + (high - low) * float(torch.rand((), generator=generator))


def coin(generator: torch.Generator) -> bool:
    """Return True with probability ½."""
    return float(torch.rand((), generator=generator)) < 0.5
