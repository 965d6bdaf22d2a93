"""Backbones as maps of features at several strides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from rankwise.errors import UsageError
from rankwise.tasks.detection.settings import Network
from rankwise.vision.backbones import (
    MobileNetV2,
    TransformersBackbone,
    channels_last,
    make_small,
)

STRIDES = (4, 8, 16, 32)
_MOBILE = (0, 2, 5, 12, 16)  # layers of MobileNetV2 where a stage begins or ends

Channels = tuple[int, ...]  # of the four strides


class Features(nn.Module, ABC):
    """Standardized images (n, 3, h, w) to one map for each of the strides 4, 8, 16 and 32."""

    channels: Channels

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

    def __init__(self, stem: nn.Module, stages: Iterable[nn.Module], channels: Channels) -> None:
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
