"""The reference detector: RetinaNet's pyramid and head, with one square anchor for each place."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from rankwise.errors import UsageError
from rankwise.tasks.detection.settings import Network
from rankwise.vision.anchors import Anchors, grid_anchors
from rankwise.vision.backbones import MobileNetV2, TransformersBackbone, channels_last, make_small
from rankwise.vision.network import ImageNetwork

STRIDES = (4, 8, 16, 32)
_RARE = 0.01  # the share of anchors with an object that a pointwise loss starts from
_MOBILE = (0, 2, 5, 12, 16)  # layers of MobileNetV2 where a stage begins or ends


class Features(nn.Module, ABC):
    """Standardized images (n, 3, h, w) to one map for each of the strides 4, 8, 16 and 32."""

    channels: tuple[int, ...]  # of the four strides

    @abstractmethod
    def parts(self) -> Sequence[nn.Module]:
        """Return the stem, then every stage, in order."""

    @abstractmethod
    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the last map of each stride."""

    def freeze(self, parts: int) -> None:
        """Freeze the first parts."""
        known = list(self.parts())
        if parts > len(known):
            raise UsageError(
                f"network.frozen must be at most the {len(known)} parts of this backbone, "
                f"got {parts}"
            )
        for part in known[:parts]:
            part.requires_grad_(False)


class _Staged(Features):
    """A stem to half the size, and four stages that halve it again."""

    def __init__(
        self, stem: nn.Module, stages: Iterable[nn.Module], channels: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.stem, self.stages, self.channels = stem, nn.ModuleList(stages), channels
        channels_last(self)

    def parts(self) -> Sequence[nn.Module]:
        return [self.stem, *self.stages]

    def forward(self, images: Tensor) -> list[Tensor]:
        found = self.stem(images.contiguous(memory_format=torch.channels_last))
        maps = []
        for stage in self.stages:
            found = stage(found)
            maps.append(found)
        return maps


class SmallFeatures(_Staged):
    """Convolutions with group norms that train on a processor, from scratch."""

    def __init__(self, width: int = 16) -> None:
        if isinstance(width, bool) or not isinstance(width, int) or width < 8 or width % 8:
            raise UsageError(f"network.options.width must be a multiple of 8, got {width!r}")
        channels = (2 * width, 4 * width, 8 * width, 8 * width)
        stages = [
            nn.Sequential(*_layer(taken, given, 2), *_layer(given, given, 1))
            for taken, given in pairwise((width, *channels))
        ]
        super().__init__(nn.Sequential(*_layer(3, width, 2)), stages, channels)


class MobileFeatures(_Staged):
    """MobileNetV2 before its last convolution, which is for classes of the whole image."""

    def __init__(self, weights: str | None, options: Mapping[str, object]) -> None:
        model = MobileNetV2(weights, options).model
        layers = list(model.get_submodule("layer").children())
        stages = [nn.Sequential(*layers[start:end]) for start, end in pairwise(_MOBILE)]
        ends = [layers[end - 1].get_submodule("reduce_1x1.convolution") for end in _MOBILE[1:]]
        channels = tuple(layer.out_channels for layer in ends if isinstance(layer, nn.Conv2d))
        super().__init__(model.get_submodule("conv_stem"), stages, channels)


class TransformersFeatures(Features):
    """``AutoBackbone`` of a convolutional kind, with the maps of all four stages."""

    has_config = True

    def __init__(self, kind: str, weights: str | None, options: Mapping[str, object]) -> None:
        super().__init__()
        wanted = {"out_features": [f"stage{i}" for i in (1, 2, 3, 4)], **options}
        self.model: nn.Module = TransformersBackbone(kind, weights, wanted).model
        channels = self.model.channels
        assert isinstance(channels, Sequence)
        if len(channels) != len(STRIDES):
            raise UsageError(f"network.options: {kind} must give the maps of four stages")
        self.channels = tuple(channels)

    def parts(self) -> Sequence[nn.Module]:
        stem = next(p for n, p in self.model.named_children() if n.startswith("embed"))
        stages = self.model.get_submodule("encoder.stages").children()
        # Some have a norm for the map of every stage, which is not part of the stage.
        norms = getattr(self.model, "hidden_states_norms", {})
        if not norms:
            return [stem, *stages]
        named = ((f"stage{n}", stage) for n, stage in enumerate(stages, 1))
        return [stem, *(nn.ModuleList([stage, norms[name]]) for name, stage in named)]

    def forward(self, images: Tensor) -> list[Tensor]:
        return list(self.model(images.contiguous(memory_format=torch.channels_last)).feature_maps)


def make_features(settings: Network) -> Features:
    """Make the backbone of the settings, from torch's global generator or with its weights."""
    kind, weights, options = settings.backbone, settings.weights, settings.options
    if kind == "small":
        found: Features = make_small(SmallFeatures, "is width", weights, options)
    elif kind == "mobilenet_v2":
        found = MobileFeatures(weights, options)
    else:
        found = TransformersFeatures(kind, weights, options)
    found.freeze(settings.frozen)
    return found


def _layer(taken: int, given: int, stride: int) -> list[nn.Module]:
    convolution = nn.Conv2d(taken, given, 3, stride, 1, bias=False)
    return [convolution, nn.GroupNorm(given // 8, given), nn.ReLU()]


@dataclass(frozen=True)
class Dense:
    """Output of a dense detector: for every anchor a score of each class, and its box."""

    logits: Tensor  # (B, A, C)
    regression: Tensor  # (B, A, 4): dx, dy, dw, dh from the anchor
    anchors: Anchors

    def by_image(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield the scores of each image, its differences, and the boxes these are from."""
        for logits, regression in zip(self.logits, self.regression, strict=True):
            yield logits, regression, self.anchors.boxes


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
    """Images in [0, 1], (B, 3, h, w), to :class:`Dense`.

    What is new in it comes from torch's global generator. ``rare``: see :class:`Head`.
    """

    def __init__(self, settings: Network, classes: int, *, rare: bool = True) -> None:
        super().__init__(freeze_batch_norm=settings.freeze_batch_norm)
        self.features, self.settings = make_features(settings), settings
        levels, width = settings.levels, settings.width
        self.pyramid = Pyramid(self.features.channels, levels, width)
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

    def forward(
        self,
        images: Tensor | list[Tensor],
        known: Sequence[Tensor] = (),
        at: Dense | None = None,
    ) -> Dense:
        """Return the dense output for images, or for their :meth:`maps`.

        A second stage adds to its proposals ``known``, the true boxes of every image, or takes
        those of another output, ``at``.
        """
        return self.dense(self.levels(images))

    def levels(self, images: Tensor | list[Tensor]) -> list[Tensor]:
        """Return the levels of the pyramid for images, or for their :meth:`maps`."""
        found: list[Tensor] = self.pyramid(
            self.maps(images) if isinstance(images, Tensor) else images
        )
        return found

    def dense(self, maps: list[Tensor]) -> Dense:
        """Return the dense output for the levels of the pyramid."""
        logits, regression = self.head(maps)
        shapes = [(one.shape[-2], one.shape[-1]) for one in maps]
        anchors = grid_anchors(shapes, self.settings.levels, self.settings.anchor_scale)
        return Dense(logits.float(), regression.float(), anchors.to(logits.device))


def _tower(width: int, depth: int) -> nn.Sequential:
    return nn.Sequential(*(layer for _ in range(depth) for layer in _layer(width, width, 1)))


def _by_anchor(one: Tensor) -> Tensor:
    return one.flatten(2).transpose(1, 2)
