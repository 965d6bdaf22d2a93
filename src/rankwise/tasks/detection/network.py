"""The reference detector: RetinaNet's pyramid and head, with one square anchor for each place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from rankwise.tasks.detection.features import STRIDES, Features, make_features
from rankwise.tasks.detection.settings import Network
from rankwise.vision.anchors import Anchors, grid_anchors
from rankwise.vision.backbones import channels_last
from rankwise.vision.network import ImageNetwork

_RARE = 0.01  # the share of anchors with an object that a pointwise loss starts from


@dataclass(frozen=True)
class Dense:
    """Output of a dense detector: for every anchor a score of each class, and its box."""

    logits: Tensor  # (B, A, C)
    regression: Tensor  # (B, A, 4): dx, dy, dw, dh from the anchor
    anchors: Anchors


class Pyramid(nn.Module):
    """Maps of one width for every level, the coarse ones added to the fine (Lin et al. 2017)."""

    def __init__(self, channels: tuple[int, ...], levels: tuple[int, ...], width: int) -> None:
        super().__init__()
        # Which of the backbone's maps it is given.
        self.taken = [STRIDES.index(level) for level in levels if level in STRIDES]
        self.across = nn.ModuleList(nn.Conv2d(channels[i], width, 1) for i in self.taken)
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in self.taken)
        further = len(levels) - len(self.taken)
        self.further = nn.ModuleList(nn.Conv2d(width, width, 3, 2, 1) for _ in range(further))

    def forward(self, maps: list[Tensor]) -> list[Tensor]:
        """Return one map for every level, the finest first."""
        found = [layer(one) for layer, one in zip(self.across, maps, strict=True)]
        for i in range(len(found) - 2, -1, -1):
            found[i] = found[i] + interpolate(found[i + 1], size=found[i].shape[-2:])
        found = [layer(one) for layer, one in zip(self.smooth, found, strict=True)]
        for layer in self.further:
            found.append(layer(found[-1]))
        return found


class Head(nn.Module):
    """The same convolutions on every level, once for the classes and once for the boxes.

    Every level has a factor of its own for its boxes. ``rare``: the first scores are those of a
    class that one anchor in a hundred has. Pointwise losses need it, those of ranking do not see
    it, as a constant on all scores leaves the order as it is.
    """

    def __init__(self, width: int, depth: int, classes: int, levels: int, *, rare: bool) -> None:
        super().__init__()
        self.of_classes, self.of_boxes = _tower(width, depth), _tower(width, depth)
        self.scores = nn.Conv2d(width, classes, 3, padding=1)
        self.boxes = nn.Conv2d(width, 4, 3, padding=1)
        self.factors = nn.Parameter(torch.ones(levels))
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.normal_(layer.weight, std=0.01)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)
        if rare and self.scores.bias is not None:
            nn.init.constant_(self.scores.bias, -math.log((1 - _RARE) / _RARE))

    def forward(self, maps: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Return scores (B, A, C) and differences (B, A, 4) of all levels, the finest first."""
        scores, boxes = [], []
        for number, one in enumerate(maps):
            scores.append(_by_anchor(self.scores(self.of_classes(one))))
            boxes.append(_by_anchor(self.boxes(self.of_boxes(one))) * self.factors[number])
        return torch.cat(scores, 1), torch.cat(boxes, 1)


class Detector(ImageNetwork):
    """Images in [0, 1], (B, 3, h, w), to :class:`Dense`."""

    def __init__(self, features: Features, settings: Network, classes: int, *, rare: bool) -> None:
        super().__init__(freeze_batch_norm=settings.freeze_batch_norm)
        self.features, self.settings = features, settings
        levels, width = settings.levels, settings.width
        self.pyramid = Pyramid(features.channels, levels, width)
        self.head = Head(width, settings.depth, classes, len(levels), rare=rare)
        channels_last(self)
        self.freeze()

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        for part in list(self.features.parts())[: self.settings.frozen]:
            part.eval()
        return self

    def maps(self, images: Tensor) -> list[Tensor]:
        """Return the feature maps of images at the strides that the pyramid takes."""
        found: list[Tensor] = self.features(self.standardize(images))
        return [found[i] for i in self.pyramid.taken]

    def forward(self, images: Tensor | list[Tensor]) -> Dense:
        """Return the dense output for images, or for their :meth:`maps`."""
        seen = self.maps(images) if isinstance(images, Tensor) else images
        maps = self.pyramid(seen)
        logits, regression = self.head(maps)
        shapes = [(one.shape[-2], one.shape[-1]) for one in maps]
        anchors = grid_anchors(shapes, self.settings.levels, self.settings.anchor_scale)
        return Dense(logits.float(), regression.float(), anchors.to(logits.device))


def make_detector(settings: Network, classes: int, *, rare: bool = True) -> Detector:
    """Make the detector of the settings; what is new in it comes from torch's global generator."""
    return Detector(make_features(settings), settings, classes, rare=rare)


def _tower(width: int, depth: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(depth):
        convolution = nn.Conv2d(width, width, 3, padding=1, bias=False)
        layers += [convolution, nn.GroupNorm(width // 8, width), nn.ReLU()]
    return nn.Sequential(*layers)


def _by_anchor(one: Tensor) -> Tensor:
    return one.flatten(2).transpose(1, 2)
